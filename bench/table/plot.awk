# SPDX-License-Identifier: GPL-2.0-or-later
# Bars in groups, as SVG. Input, tab separated: GROUP SERIES VALUE, in the order
# of drawing. -v title= is the title; a line is drawn at 1.
BEGIN { FS = "\t"; left = 50; top = 60; height = 260; bar = 9; gap = 14 }
function esc(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); return s }
{
	if (!($1 in group)) { group[$1] = ++groups; gname[groups] = $1 }
	if (!($2 in series)) { series[$2] = ++many; sname[many] = $2 }
	v[group[$1], series[$2]] = $3
	if ($3 > most) most = $3
}
END {
	split("#444444 #8c8c8c #c8c8c8 #1b6ca8 #63a7d6 #0f9d76 #d9822b #b03a5b", colour, " ")
	step = most > 12 ? 4 : most > 6 ? 2 : most > 3 ? 1 : 0.5
	max = (int(most / step) + 1) * step
	wide = groups * (many * bar + gap)
	width = left + wide + 20
	if (width < 700) width = 700
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", width, top + height + 150
	printf "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
	printf "<text x=\"%d\" y=\"18\" font-size=\"14\">%s</text>\n", left, esc(title)
	for (s = 1; s <= many; s++) {
		x = left + (s - 1) % 4 * 165; y = 26 + int((s - 1) / 4) * 14
		printf "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>", x, y, colour[s]
		printf "<text x=\"%d\" y=\"%d\" font-size=\"9\">%s</text>\n", x + 14, y + 9, esc(sname[s])
	}
	for (t = 0; t <= max + 1e-9; t += step) {
		y = top + height - t / max * height
		printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>", left, left + wide, y, y, t == 1 ? "#000000" : "#dddddd"
		printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left - 6, y + 4, t
	}
	for (g = 1; g <= groups; g++) {
		x0 = left + gap / 2 + (g - 1) * (many * bar + gap)
		for (s = 1; s <= many; s++) {
			if (!((g, s) in v)) continue
			h = v[g, s] / max * height
			printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>%s: %.2f</title></rect>\n",
				x0 + (s - 1) * bar, top + height - h, bar - 1, h,
				colour[s], esc(sname[s]), v[g, s]
		}
		printf "<text transform=\"translate(%.1f,%d) rotate(-50)\" text-anchor=\"end\">%s</text>\n", x0 + many * bar / 2, top + height + 14, esc(gname[g])
	}
	print "</svg>"
}

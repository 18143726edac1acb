import { type Html, html } from '../kernel/html.ts'

export type Rows = readonly (readonly [label: string, value: string])[]

/** Labels and values in two columns. */
export function textTable(rows: Rows): string {
  const width = Math.max(0, ...rows.map(([label]) => label.length)) + 2
  return rows.map(([label, value]) => `${`${label}:`.padEnd(width)}${value}`).join('\n')
}

/** The same in HTML; empty when there are no rows. */
export function htmlTable(rows: Rows): Html {
  const cells = rows.map(
    ([label, value]) => html`<tr>
<th scope="row" style="text-align:left;vertical-align:top;font-weight:normal;opacity:.75;padding:4px 16px 4px 0">${label}</th>
<td style="vertical-align:top;padding:4px 0;overflow-wrap:anywhere"><bdi>${value}</bdi></td>
</tr>
`,
  )
  if (rows.length === 0) return html``
  return html`<table style="border-collapse:collapse;margin:0 0 20px;font-size:15px;line-height:1.45">
${cells}</table>
`
}

import { type Html, html } from '../kernel/html.ts'
import type { ConnectText } from '../messages/message.ts'
import { htmlTable, type Rows, textTable } from './mail-table.ts'

/** How to connect, as the part of a mail. Commands and lines of files are code, each on its own line. */
export type MailPart = { text: string; html: Html }

export function connectPart(connect: ConnectText): MailPart {
  const { summary, links, fields, commands, files } = connect
  const blocks = [
    ...files.map(({ label, path, lines }) => ({ title: `Add to ${path} (${label})`, lines })),
    ...commands.map(([label, text]) => ({ title: `In a shell (${label})`, lines: [text] })),
  ]
  return { text: textOf(summary, links, fields, blocks), html: htmlOf(summary, links, fields, blocks) }
}

type Block = { title: string; lines: readonly string[] }

function textOf(summary: string, links: Rows, fields: Rows, blocks: readonly Block[]): string {
  const code = blocks.map(({ title, lines }) => `${title}:\n${lines.map((one) => `    ${one}`).join('\n')}`)
  const parts = [`How to connect: ${summary}`, textTable([...links, ...fields]), ...code]
  return parts.filter((part) => part !== '').join('\n\n')
}

function htmlOf(summary: string, links: Rows, fields: Rows, blocks: readonly Block[]): Html {
  const anchors = links.map(
    ([label, url]) => html`<p style="margin:0 0 8px;overflow-wrap:anywhere"><a href="${url}">${label}</a></p>\n`,
  )
  const code = blocks.map(
    ({ title, lines }) => html`<p style="margin:12px 0 4px;font-size:13px;opacity:.75">${title}</p>
<pre style="margin:0 0 12px;padding:8px 10px;border:1px solid #8884;border-radius:6px;overflow-x:auto;font-size:13px" dir="ltr"><code>${lines.join('\n')}</code></pre>
`,
  )
  return html`<h2 style="margin:0 0 8px;font-size:17px;font-weight:600">How to connect</h2>
<p style="margin:0 0 12px">${summary}</p>
${anchors}${htmlTable(fields)}${code}`
}

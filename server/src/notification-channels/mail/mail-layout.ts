import { type Html, html } from '../../kernel/html.ts'
import { line } from '../../kernel/plain-words.ts'
import type { MailContent } from './templates/template.ts'

/** What stands around it. */
export type MailFrame = {
  subject_prefix: string | undefined
  /** Where it can be looked at; undefined: nowhere. Opening it decides nothing. */
  link: string | undefined
  /** Why the reader gets it. */
  why: string
}

export type Mail = { subject: string; text: string; html: string }

/** Characters of a subject with its prefix: what a list of mails shows at most. */
const longestSubject = 150
/** Characters of a sentence, and of a fact: a reason may be long, and an approver wants to read it. */
const longestText = 1_000

/** The mail as it is sent: whatever stands in it is one line of plain text, in HTML escaped, and bounded. */
export function writeMail({ subject, headline, facts, next }: MailContent, frame: MailFrame): Mail {
  const plain = (text: string) => line(text, longestText)
  const flat = {
    headline: plain(headline),
    facts: facts.map(([name, value]) => [name, plain(value ?? '')] as const).filter(([, value]) => value !== ''),
    next: next === undefined ? undefined : plain(next),
    link: frame.link,
    why: plain(frame.why),
  }
  return {
    subject: subjectOf(frame.subject_prefix, subject),
    text: textOf(flat),
    html: htmlOf(flat).text,
  }
}

/** On one line, cut at a word where one ends near enough. */
function subjectOf(prefix: string | undefined, subject: string): string {
  const whole = line(prefix === undefined ? subject : `${prefix} ${subject}`, 1_000)
  const characters = [...whole]
  if (characters.length <= longestSubject) return whole
  const cut = characters.slice(0, longestSubject - 1).join('')
  const lastWord = cut.lastIndexOf(' ')
  return `${lastWord > cut.length - 30 ? cut.slice(0, lastWord) : cut}…`
}

/** What a mail says, each part one line. */
type Flat = {
  headline: string
  facts: readonly (readonly [name: string, value: string])[]
  next: string | undefined
  link: string | undefined
  why: string
}

function textOf({ headline, facts, next, link, why }: Flat): string {
  const width = Math.max(0, ...facts.map(([name]) => name.length)) + 2
  const table = facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`).join('\n')
  const look = link === undefined ? undefined : `Look at it (opening it decides nothing):\n${link}`
  const parts = [headline, table, next, look, `-- \n${why}`]
  return `${parts.filter((part) => part !== undefined && part !== '').join('\n\n')}\n`
}

/**
 * One column that fits a phone. No colours of its own save the button's, so that it is light or dark as its reader has
 * it; no images, scripts or style sheets, so that opening it tells nobody.
 */
function htmlOf({ headline, facts, next, link, why }: Flat): Html {
  const rows = facts.map(
    ([name, value]) => html`<tr>
<th scope="row" style="text-align:left;vertical-align:top;font-weight:normal;opacity:.75;padding:4px 16px 4px 0">${name}</th>
<td style="vertical-align:top;padding:4px 0;overflow-wrap:anywhere"><bdi>${value}</bdi></td>
</tr>
`,
  )
  const table =
    rows.length === 0
      ? ''
      : html`<table style="border-collapse:collapse;margin:0 0 20px;font-size:15px;line-height:1.45">
${rows}</table>
`
  const after = next === undefined ? '' : html`<p style="margin:0 0 20px">${next}</p>\n`
  const look =
    link === undefined
      ? ''
      : html`<p style="margin:0 0 20px"><a href="${link}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none">Look at it</a></p>
<p style="margin:0 0 20px;font-size:13px;opacity:.75">Opening it decides nothing.</p>
`
  return html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${headline}</title>
</head>
<body style="margin:0;padding:24px 16px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5">
<div role="article" aria-roledescription="email" lang="en" style="max-width:600px;margin:0 auto">
<h1 style="margin:0 0 20px;font-size:20px;line-height:1.35;font-weight:600;overflow-wrap:anywhere">${headline}</h1>
${table}${after}${look}<p style="margin:0;padding:12px 0 0;border-top:1px solid #8884;font-size:13px;opacity:.75;overflow-wrap:anywhere">${why}</p>
</div>
</body>
</html>
`
}

import { type Html, html } from '../kernel/html.ts'
import { type Message, plain, quoted, titleLine } from '../messages/message.ts'
import type { Mode } from '../tenants/mode.ts'
import { connectPart, type MailPart } from './mail-connect.ts'
import { htmlTable, type Rows, textTable } from './mail-table.ts'

/** What a mail adds to its message. */
export type MailFrame = {
  subject_prefix?: string | undefined
  /** The page of its subject; undefined when there is none. Opening it decides nothing. */
  link: string | undefined
  /** What the link is for; absent: it shows the subject and decides nothing. */
  opening?: Opening
  /** Why the reader gets it. */
  why: string
  /** That of the tenant; its mails say when it rehearses. */
  mode?: Mode
}

/** The words of a link: those of the button, and what opening it does. */
export type Opening = { label: string; does: string }
const showing: Opening = { label: 'Open it', does: 'opening it decides nothing' }

export type Mail = { subject: string; text: string; html: string }

/** The finished mail. The message is plain text already; the HTML part escapes it. */
export function writeMail({ title, sentence, facts, quotes, next, connect }: Message, frame: MailFrame): Mail {
  const { subject_prefix, link, opening = showing } = frame
  const rows = [...facts, ...quotes.map(([label, words]) => [label, quoted(words)] as const)]
  const parts = {
    sentence,
    rows,
    next,
    connect: connect && connectPart(connect),
    link,
    opening,
    why: plain(whyOf(frame)),
  }
  return {
    subject: titleLine(subject_prefix === undefined ? title : `${subject_prefix} ${title}`),
    text: textOf(parts),
    html: htmlOf(parts).text,
  }
}

function whyOf({ why, mode }: MailFrame): string {
  return mode === 'rehearsal' ? `${why} This is a rehearsal: the access is simulated.` : why
}

/** The parts of a mail; each text is one line. */
type Parts = {
  sentence: string
  rows: Rows
  next: string | undefined
  connect: MailPart | undefined
  link: string | undefined
  opening: Opening
  why: string
}

function textOf({ sentence, rows, next, connect, link, opening, why }: Parts): string {
  const opens = link === undefined ? undefined : `${opening.label} (${opening.does}):\n${link}`
  const parts = [sentence, textTable(rows), next, connect?.text, opens, `-- \n${why}`]
  return `${parts.filter((part) => part !== undefined && part !== '').join('\n\n')}\n`
}

/**
 * One column that fits a phone. Only the button has colours, so that the mail follows the reader's light or dark mode. There
 * are no images, scripts or style sheets, so that opening the mail reveals nothing to anyone.
 */
function htmlOf({ sentence, rows, next, connect, link, opening, why }: Parts): Html {
  const after = next === undefined ? '' : html`<p style="margin:0 0 20px">${next}</p>\n`
  const button =
    link === undefined
      ? ''
      : html`<p style="margin:0 0 20px"><a href="${link}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none">${opening.label}</a></p>
<p style="margin:0 0 20px;font-size:13px;opacity:.75">${opening.does.charAt(0).toUpperCase()}${opening.does.slice(1)}.</p>
`
  return html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${sentence}</title>
</head>
<body style="margin:0;padding:24px 16px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5">
<div role="article" aria-roledescription="email" lang="en" style="max-width:600px;margin:0 auto">
<h1 style="margin:0 0 20px;font-size:20px;line-height:1.35;font-weight:600;overflow-wrap:anywhere">${sentence}</h1>
${htmlTable(rows)}${after}${connect?.html ?? ''}${button}<p style="margin:0;padding:12px 0 0;border-top:1px solid #8884;font-size:13px;opacity:.75;overflow-wrap:anywhere">${why}</p>
</div>
</body>
</html>
`
}

/** The message about an event, independent of its readers and its channel. */
import { line } from '../kernel/plain-words.ts'
import type { Connect } from '../provisioners/connect.ts'

/** A labelled fact; one without a value is left out. */
export type Fact = readonly [label: string, value: string | null]

/** A message as its template writes it. It may contain raw user text anywhere. */
export type Draft = {
  /** What happened, without a full stop. */
  title: string
  /** The same as a whole sentence, when it says more than the title. */
  sentence?: string
  facts?: readonly Fact[]
  /** Quotes of users and targets. */
  quotes?: readonly Fact[]
  /** The consequence, or what to do. */
  next?: string | undefined
  /** How the reader connects to what they got. */
  connect?: Connect | null
}

/** Writes the message about one event. */
export type Template<Facts> = (facts: Facts) => Draft

type Row = readonly [label: string, value: string]

/** A finished message: plain text, never markup. Each part is one line of bounded length. */
export type Message = {
  title: string
  sentence: string
  facts: readonly Row[]
  /** Without quotation marks: `quoted` adds them. */
  quotes: readonly Row[]
  next: string | undefined
  connect: ConnectText | undefined
}

/** How to connect. Each text is one line; links are https links. */
export type ConnectText = {
  summary: string
  links: readonly Row[]
  fields: readonly Row[]
  commands: readonly Row[]
  files: readonly { label: string; path: string; lines: readonly string[] }[]
}

/** Characters of a title, at most: as many as a list shows. */
const maxTitle = 150
/** Characters of each other part, at most: a reason may be long, and an approver needs to read it. */
const maxText = 1_000
/** Characters of a quote within a paragraph, at most. */
const maxShortQuote = 200
/** Characters of a way to connect within a paragraph, at most. */
const maxWay = 600

/** The one place that sanitizes user text: it removes line ends, control characters and marks that change the text's direction. */
export function writeMessage({
  title,
  sentence = `${title}.`,
  facts = [],
  quotes = [],
  next,
  connect,
}: Draft): Message {
  return {
    title: titleLine(title),
    sentence: plain(sentence),
    facts: rowsOf(facts),
    quotes: rowsOf(quotes),
    next: next === undefined ? undefined : plain(next),
    connect: connect ? connectText(connect) : undefined,
  }
}

/** A title on one line, cut at the end of a word when one is near enough. */
export function titleLine(text: string): string {
  const whole = plain(text)
  const characters = [...whole]
  if (characters.length <= maxTitle) return whole
  const cut = characters.slice(0, maxTitle - 1).join('')
  const lastWord = cut.lastIndexOf(' ')
  return `${lastWord > cut.length - 30 ? cut.slice(0, lastWord) : cut}…`
}

/** Text on one line, bounded. */
export function plain(text: string): string {
  return line(text, maxText)
}

/** A user's text in quotation marks; inner ones are replaced, so that the text cannot end the quote. */
export function quoted(words: string): string {
  return `“${words.replace(/[“”]/g, '"')}”`
}

function connectText({ summary, links, fields, commands, files }: Connect): ConnectText {
  return {
    summary: plain(summary),
    links: rowsOf(
      links.filter(({ url }) => url.startsWith('https://')).map(({ label, url }) => [plain(label), url] as const),
    ),
    fields: rowsOf(fields.map(({ label, value }) => [plain(label), value] as const)),
    commands: rowsOf(commands.map(({ label, text }) => [plain(label), text] as const)),
    files: files.map(({ label, path, lines }) => ({ label: plain(label), path: plain(path), lines: lines.map(plain) })),
  }
}

/**
 * The message as one paragraph without its facts, for places with little room. Of how to connect it has the most direct way: the
 * last link, which leads deepest, or else the first command.
 */
export function paragraphOf({ sentence, quotes, next, connect }: Message): string {
  const reasons = quotes.map(([label, words]) => `${label}: ${quoted(line(words, maxShortQuote))}.`)
  return [sentence, ...reasons, next, connect && wayOf(connect)].filter((part) => part !== undefined).join(' ')
}

/** A way that is too long for a paragraph is left out: a part of it would be of no use. */
function wayOf({ summary, links, commands }: ConnectText): string {
  const [label, way = ''] = links.at(-1) ?? commands[0] ?? []
  const isShort = label !== undefined && way.length <= maxWay
  return `How to connect: ${line(summary, maxWay)}${isShort ? ` ${line(label)}: ${way}` : ''}`
}

function rowsOf(facts: readonly Fact[]): Row[] {
  return facts.map(([label, value]) => [label, plain(value ?? '')] as const).filter(([, value]) => value !== '')
}

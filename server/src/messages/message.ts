/** What is said about an event, apart from who reads it and where. */
import { line } from '../kernel/plain-words.ts'

/** Something to know, under its label; one without a value is left out. */
export type Fact = readonly [label: string, value: string | null]

/** A message as its template writes it. What users wrote may stand anywhere in it, as it is. */
export type Draft = {
  /** What happened, without a full stop. */
  title: string
  /** The same as a whole sentence, where there is more to say than the title does. */
  sentence?: string
  facts?: readonly Fact[]
  /** What people, and targets, wrote about it, in their own words. */
  quotes?: readonly Fact[]
  /** What comes of it, or what to do. */
  next?: string | undefined
}

/** Writes the message about one event. */
export type Template<Facts> = (facts: Facts) => Draft

type Row = readonly [label: string, value: string]

/** What is said about an event: plain text, never markup. Each part is one line, bounded. */
export type Message = {
  title: string
  sentence: string
  facts: readonly Row[]
  /** Without quotation marks: `quoted` adds them. */
  quotes: readonly Row[]
  next: string | undefined
}

/** Characters of a title: what a list shows at most. */
const maxTitle = 150
/** Characters of each other part: a reason may be long, and an approver wants to read it. */
const maxText = 1_000
/** Characters of a quote among sentences. */
const maxShortQuote = 200

/** The one place that makes texts of users harmless: without line ends, controls and marks that turn its direction. */
export function writeMessage({ title, sentence = `${title}.`, facts = [], quotes = [], next }: Draft): Message {
  return {
    title: titleLine(title),
    sentence: plain(sentence),
    facts: rowsOf(facts),
    quotes: rowsOf(quotes),
    next: next === undefined ? undefined : plain(next),
  }
}

/** A title on one line, cut at a word where one ends near enough. */
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

/** What somebody wrote, in quotation marks that it cannot leave. */
export function quoted(words: string): string {
  return `“${words.replace(/[“”]/g, '"')}”`
}

/** The message in one paragraph, where there is no room for its facts. */
export function paragraphOf({ sentence, quotes, next }: Message): string {
  const said = quotes.map(([label, words]) => `${label}: ${quoted(line(words, maxShortQuote))}.`)
  return [sentence, ...said, next].filter((part) => part !== undefined).join(' ')
}

function rowsOf(facts: readonly Fact[]): Row[] {
  return facts.map(([label, value]) => [label, plain(value ?? '')] as const).filter(([, value]) => value !== '')
}

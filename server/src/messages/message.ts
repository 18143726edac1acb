/** The message about an event, independent of its readers and its channel. */
import { line } from '../kernel/plain-words.ts'

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
}

/** Characters of a title, at most: as many as a list shows. */
const maxTitle = 150
/** Characters of each other part, at most: a reason may be long, and an approver needs to read it. */
const maxText = 1_000
/** Characters of a quote within a paragraph, at most. */
const maxShortQuote = 200

/** The one place that sanitizes user text: it removes line ends, control characters and marks that change the text's direction. */
export function writeMessage({ title, sentence = `${title}.`, facts = [], quotes = [], next }: Draft): Message {
  return {
    title: titleLine(title),
    sentence: plain(sentence),
    facts: rowsOf(facts),
    quotes: rowsOf(quotes),
    next: next === undefined ? undefined : plain(next),
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

/** The message as one paragraph without its facts, for places with little room. */
export function paragraphOf({ sentence, quotes, next }: Message): string {
  const reasons = quotes.map(([label, words]) => `${label}: ${quoted(line(words, maxShortQuote))}.`)
  return [sentence, ...reasons, next].filter((part) => part !== undefined).join(' ')
}

function rowsOf(facts: readonly Fact[]): Row[] {
  return facts.map(([label, value]) => [label, plain(value ?? '')] as const).filter(([, value]) => value !== '')
}

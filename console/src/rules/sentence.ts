import type { Slot } from './templates.ts'

/** A sentence as it is shown: words, and slots with the marks that directly follow and stay beside them. */
export type Part = { words: string } | { slot: Slot; marks: string }

/** The parts of a sentence of the catalog, as in `{who} may get {action}, at once.` Each language has its own order. */
export function partsOf(sentence: string): Part[] {
  return [...sentence.matchAll(/\{(\w+)\}([.,;:]*)|[^{]+/g)].map(([text, slot, marks]) =>
    slot === undefined ? { words: text } : { slot: slot as Slot, marks: marks ?? '' },
  )
}

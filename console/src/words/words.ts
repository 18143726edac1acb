import { createContext, use } from 'react'
import { loadPart } from '../live/load-part.ts'
import { english } from './english.ts'

/** Every word of the console, in one language. Another language is the same shape: what it lacks is a type error. */
export type Words = typeof english

export const WordsContext = createContext<Words>(english)

export const useWords = (): Words => use(WordsContext)

/** The words of a language tag; English where there are no others. Each further language is a file that is loaded when it is needed. */
export async function loadWords(locale: string): Promise<Words> {
  return /^de\b/i.test(locale) ? (await loadPart(() => import('./german.ts'))).german : english
}

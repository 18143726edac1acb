import { Refusal } from '@sallyport/client'
import type { ReactNode } from 'react'
import { useWords } from '../words/words.ts'
import { quotedIn } from './quoted.ts'

/** What the service or a target says: English in every language of the console, so that it is read out as English. */
export function EnglishText({ children }: { children: ReactNode }): ReactNode {
  return (
    <span lang="en" dir="auto">
      {children}
    </span>
  )
}

/** Why a call failed, as a sentence. */
export function FailureText({ error }: { error: Error }): ReactNode {
  const words = useWords()
  if (!(error instanceof Refusal)) return words.lists.unreachable
  const sentence = words.refusal(error)
  const parts = quotedIn(sentence, error.message)
  if (parts === undefined) return sentence
  return (
    <>
      {parts.before}
      <EnglishText>{parts.quoted}</EnglishText>
      {parts.after}
    </>
  )
}

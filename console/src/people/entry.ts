import type { Refusal } from '@sallyport/client'
import { faultOf } from '../api/faults.ts'
import type { SetUpWords } from '../words/set-up-words.ts'

export type Entry = { email: string; name: string; role: string }

/** What is wrong with each field, in words; undefined where nothing is. */
export type Faults = { email: string | undefined; name: string | undefined }

/** What the page sees by itself. The service knows what an address is; this catches what people forget. */
export function faultsOf({ email, name }: Entry, words: SetUpWords['people']): Faults {
  return {
    email: /^\S+@\S+$/.test(email.trim()) ? undefined : words.emailNeeded,
    name: name.trim() === '' ? words.nameNeeded : undefined,
  }
}

/** What the service refuses of a field. */
export function refusedFaults(
  error: (Error & Partial<Pick<Refusal, 'code'>>) | undefined,
  words: SetUpWords['people'],
): Faults {
  return {
    email: error?.code === 'user_exists' ? words.emailTaken : faultOf(error, '/email'),
    name: faultOf(error, '/name'),
  }
}

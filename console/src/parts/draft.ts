import { useState } from 'react'
import { useMe } from '../me/me.ts'

const prefix = 'sallyport-draft:'

/**
 * What a person writes, kept in this window under `name`: it survives a reload, and a sign-in at a provider. `clear` ends it. Another person who signs
 * in in this window does not see it.
 */
export function useDraft(name: string): [text: string, write: (text: string) => void, clear: () => void] {
  const place = `${prefix}${useMe().id}:${name}`
  const [text, setText] = useState(() => sessionStorage.getItem(place) ?? '')
  const write = (next: string) => {
    setText(next)
    if (next === '') sessionStorage.removeItem(place)
    else sessionStorage.setItem(place, next)
  }
  return [text, write, () => write('')]
}

/** Ends all drafts, except those of one person. */
export function clearDrafts(except?: string): void {
  for (const place of Object.keys(sessionStorage)) {
    const isKept = except !== undefined && place.startsWith(`${prefix}${except}:`)
    if (place.startsWith(prefix) && !isKept) sessionStorage.removeItem(place)
  }
}

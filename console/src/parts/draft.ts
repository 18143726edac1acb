import { useState } from 'react'

const prefix = 'sallyport-draft:'

/**
 * What a person writes, kept in this window under `name`: it survives a reload, and a sign-in at a provider. `clear` ends it.
 */
export function useDraft(name: string): [text: string, write: (text: string) => void, clear: () => void] {
  const place = prefix + name
  const [text, setText] = useState(() => sessionStorage.getItem(place) ?? '')
  const write = (next: string) => {
    setText(next)
    if (next === '') sessionStorage.removeItem(place)
    else sessionStorage.setItem(place, next)
  }
  return [text, write, () => write('')]
}

/** Ends all drafts: what one person wrote is not the next one's to see. */
export function clearDrafts(): void {
  for (const place of Object.keys(sessionStorage)) if (place.startsWith(prefix)) sessionStorage.removeItem(place)
}

import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { useWords, type Words } from '../words/words.ts'

/** A text, or one in the language that the console has when it is shown: the act may have been to choose another. */
type Line = string | ((words: Words) => string)

type Said = { id: number; text: Line; shown: boolean }

let said: readonly Said[] = []
let lastId = 0
const listeners = new Set<() => void>()

function change(next: readonly Said[]): void {
  said = next
  for (const listener of listeners) listener()
}

function say(text: Line, shown: boolean): void {
  lastId += 1
  change([...said, { id: lastId, text, shown }].slice(-3))
}

/** Shows one line for some seconds, and reads it out. */
export const toast = (text: Line): void => say(text, true)

/** Reads a line out, and shows nothing: the page shows it already. */
export const announce = (text: string): void => say(text, false)

const shownMs = 6_000

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The one place for lines that come and go. */
export function Announcer(): ReactNode {
  const words = useWords()
  const lines = useSyncExternalStore(subscribe, () => said)
  const first = lines[0]?.id
  useEffect(() => {
    if (first === undefined) return
    const timer = setTimeout(() => change(said.filter(({ id }) => id !== first)), shownMs)
    return () => clearTimeout(timer)
  }, [first])
  return (
    <div role="status" className="pointer-events-none fixed bottom-16 left-4 z-40 grid gap-2 sm:bottom-4">
      {lines.map(({ id, text, shown }) => (
        <p
          key={id}
          className={shown ? 'rounded-control border border-line bg-surface px-3 py-2 shadow-over' : 'sr-only'}
        >
          {typeof text === 'string' ? text : text(words)}
        </p>
      ))}
    </div>
  )
}

import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../parts/button.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { Entered } from './entered.tsx'

type KeyOnceProps = { name: string; text: string; close: () => void }

/** A key, which nobody can read again. */
export function KeyOnce({ name, text, close }: KeyOnceProps): ReactNode {
  const words = useSetUpWords().directories.push
  const whole = useRef<HTMLDivElement>(null)
  // It is news, and stands elsewhere than the button that made it.
  useEffect(() => whole.current?.focus(), [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a person enters
    <div ref={whole} role="group" aria-label={name} tabIndex={-1} className="grid gap-3 rounded-control bg-ok-tint p-4">
      <Entered name={name} text={text} copy={words.copyKey} />
      <p className="sound-width font-medium text-ok">{words.once}</p>
      <div>
        <Button onClick={close}>{words.entered}</Button>
      </div>
    </div>
  )
}

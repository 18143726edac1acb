import { useLocation } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { useWords } from '../words/words.ts'
import { PlaceLinks, placeClass } from './place-link.tsx'
import { type Place, usePlaces } from './places.ts'
import { tabsOf } from './tabs-of.ts'

/** The navigation of a phone: tabs at the bottom, the last of which unfolds to the pages that have no tab. */
export function Tabs(): ReactNode {
  const words = useWords().frame
  const { tabs, more } = tabsOf(usePlaces())
  return (
    <nav
      aria-label={words.navigation}
      className="fixed inset-x-0 bottom-0 z-30 grid h-14 auto-cols-fr grid-flow-col border-t border-line bg-surface sm:hidden"
    >
      <PlaceLinks of={tabs} />
      {more.length > 0 && <More places={more} />}
    </nav>
  )
}

/** The pages that have no tab. It folds when a page opens, at Escape, and when the focus or a touch goes elsewhere. */
function More({ places }: { places: readonly Place[] }): ReactNode {
  const words = useWords().frame
  const { pathname } = useLocation()
  const [isOpen, setOpen] = useState(false)
  const whole = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it folds each time when a page opens
  useEffect(() => setOpen(false), [pathname])
  useEffect(() => {
    if (!isOpen) return
    const fold = ({ target }: Event) => {
      if (!(target instanceof Node && whole.current?.contains(target))) setOpen(false)
    }
    document.addEventListener('pointerdown', fold)
    document.addEventListener('focusin', fold)
    return () => {
      document.removeEventListener('pointerdown', fold)
      document.removeEventListener('focusin', fold)
    }
  }, [isOpen])
  const onKey = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !isOpen) return
    setOpen(false)
    button.current?.focus()
  }
  const isHere = places.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape folds what a button of it unfolded
    <div ref={whole} className="relative grid" onKeyDown={onKey}>
      <button
        ref={button}
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className={`${placeClass} ${isHere ? 'bg-accent-tint font-medium text-accent' : ''}`}
      >
        <Ellipsis size={16} strokeWidth={1.75} aria-hidden="true" />
        <span>{words.more}</span>
      </button>
      {isOpen && (
        <div
          id={id}
          data-edge
          className="absolute right-2 bottom-full mb-2 grid w-56 gap-1 rounded-card border border-line bg-surface p-2 shadow-over"
        >
          <PlaceLinks of={places} look="line" />
        </div>
      )}
    </div>
  )
}

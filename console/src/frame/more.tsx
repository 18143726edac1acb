import { Link, useLocation } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { useWords } from '../words/words.ts'
import type { Place } from './places.ts'

/** How an entry of the list looks. */
const lineClass =
  'flex min-h-11 items-center gap-3 rounded-control px-3 text-text-2 hover:bg-sunken hover:text-text aria-[current=page]:bg-accent-tint aria-[current=page]:font-medium aria-[current=page]:text-accent'

/** `shape`: the classes of a tab. */
type MoreProps = { places: readonly Place[]; shape: string }

/** The pages that have no tab. It folds when a page opens, at Escape, and when the focus or a touch goes elsewhere. */
export function More({ places, shape }: MoreProps): ReactNode {
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
        className={`${shape} ${isHere ? 'bg-accent-tint font-medium text-accent' : ''}`}
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
          {places.map(({ to, icon: Icon, name }) => (
            <Link key={to} to={to} activeOptions={{ includeSearch: false }} className={lineClass}>
              <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
              {name}
            </Link>
          ))}
        </div>
      )}
    </div>
  )
}

import { Search } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { loadPart } from '../live/load-part.ts'
import { Button } from '../parts/button.tsx'
import { useWords } from '../words/words.ts'
import { hasCommandKey, isGoKey } from './go-key.ts'

const GoAnywhere = lazy(() =>
  loadPart(() => import('./go-anywhere.tsx')).then(({ GoAnywhere: component }) => ({ default: component })),
)

/** Goes anywhere by a few letters: opened by its key on every page, and by a button where there is room. */
export function Go(): ReactNode {
  const words = useWords().go
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isGoKey(event, navigator.platform)) return
      // What another dialog asks comes first.
      if (!isOpen && document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      setOpen(!isOpen)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [isOpen])
  const isMac = hasCommandKey(navigator.platform)
  return (
    <>
      <span className="hidden lg:grid">
        <Button
          look="quiet"
          aria-haspopup="dialog"
          aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
          onClick={() => setOpen(true)}
        >
          <Search size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className="mr-auto">{words.title}</span>
          <span aria-hidden="true" className="text-meta font-normal text-text-2">
            {isMac ? '⌘K' : 'Ctrl K'}
          </span>
        </Button>
      </span>
      {isOpen && (
        <Suspense>
          <GoAnywhere close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

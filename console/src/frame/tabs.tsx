import { lazy, type ReactNode, Suspense } from 'react'
import { loadPart } from '../live/load-part.ts'
import { useWords } from '../words/words.ts'
import { PlaceLinks, placeClass } from './place-link.tsx'
import type { Place } from './places.ts'
import { tabsOf } from './tabs-of.ts'

const More = lazy(() => loadPart(() => import('./more.tsx')).then(({ More: component }) => ({ default: component })))

/** The navigation of a phone: tabs at the bottom, the last of which unfolds to the pages that have no tab. */
export function Tabs({ places }: { places: readonly Place[] }): ReactNode {
  const words = useWords().frame
  const { tabs, more } = tabsOf(places)
  return (
    <nav
      aria-label={words.navigation}
      className="fixed inset-x-0 bottom-0 z-30 grid h-14 auto-cols-fr grid-flow-col border-t border-line bg-surface sm:hidden"
    >
      <PlaceLinks of={tabs} />
      {more.length > 0 && (
        // Its tab has its place before it is there.
        <Suspense fallback={<span />}>
          <More places={more} shape={placeClass} />
        </Suspense>
      )}
    </nav>
  )
}

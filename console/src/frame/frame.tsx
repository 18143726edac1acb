import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useIsLost } from '../live/connection.ts'
import { useMe } from '../me/me.ts'
import { SignOut } from '../me/sign-out.tsx'
import { Announcer } from '../parts/announcer.tsx'
import { LeaveStandIn } from '../rehearsal/leave-stand-in.tsx'
import { standIn } from '../rehearsal/stand-in.ts'
import { useWords } from '../words/words.ts'
import { Bell } from './bell.tsx'
import { Go } from './go.tsx'
import { PlaceLinks } from './place-link.tsx'
import { usePlaces } from './places.ts'
import { Tabs } from './tabs.tsx'

/** What surrounds every page: the navigation, the bell, and lines about rehearsal and about a service that does not answer. */
export function Frame(): ReactNode {
  const words = useWords().frame
  const me = useMe()
  const places = usePlaces()
  return (
    <div className="min-h-dvh pb-14 sm:pb-0 lg:grid lg:grid-cols-[224px_1fr] lg:grid-rows-[auto_1fr]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:bg-surface focus:p-2"
      >
        {words.skip}
      </a>
      <div className="z-30 lg:sticky lg:top-0 lg:col-span-2">
        {me.tenant.mode === 'rehearsal' && <RehearsalBar />}
        <OfflineBar />
      </div>
      <header
        className={`flex items-center justify-between gap-2 border-b border-line bg-surface px-4 py-2 lg:sticky lg:flex-col lg:items-stretch lg:justify-start lg:gap-4 lg:border-r lg:border-b-0 lg:py-4 ${me.tenant.mode === 'rehearsal' ? 'lg:top-7 lg:h-[calc(100dvh-28px)]' : 'lg:top-0 lg:h-dvh'}`}
      >
        <div className="flex items-center justify-between gap-2">
          <Link to="/" className="rounded-control font-semibold text-accent">
            {words.product}
          </Link>
          <span className="hidden lg:block">
            <Bell />
          </span>
        </div>
        <p className="hidden text-meta text-text-2 lg:flex">
          <bdi className="truncate">{me.tenant.name}</bdi>
          <span className="shrink-0 whitespace-pre"> · {words.mode(me.tenant.mode === 'live')}</span>
        </p>
        <Go />
        <nav aria-label={words.navigation} className="hidden gap-1 sm:mr-auto sm:flex lg:mr-0 lg:flex-col">
          <PlaceLinks of={places} />
        </nav>
        <span className="lg:hidden">
          <Bell />
        </span>
        {standIn === undefined ? (
          <SignOut className="mt-auto hidden lg:grid" />
        ) : (
          <LeaveStandIn className="lg:mt-auto" />
        )}
      </header>
      <Outlet />
      <Tabs places={places} />
      <Announcer />
    </div>
  )
}

function RehearsalBar(): ReactNode {
  const { frame: words, rehearsal } = useWords()
  const me = useMe()
  return (
    <section
      aria-label={words.rehearsal}
      className="grid h-7 place-items-center bg-[repeating-linear-gradient(135deg,var(--wait-tint)_0_12px,var(--surface)_12px_24px)] text-meta font-medium text-text"
    >
      {standIn === undefined ? words.rehearsal : rehearsal.bar(me.name)}
    </section>
  )
}

function OfflineBar(): ReactNode {
  const words = useWords().frame
  const isLost = useIsLost()
  return (
    <div role="status">
      {isLost && <p className="bg-wait-tint px-4 py-2 text-center font-medium text-wait">{words.offline}</p>}
    </div>
  )
}

import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { Page, Section } from '../parts/page.tsx'
import { RehearsalCard } from '../rehearsal/rehearsal-card.tsx'
import { useWords } from '../words/words.ts'

/** The first steps of an organization: a rehearsal, and three forms in the order in which they are needed. */
export function StartPage(): ReactNode {
  const words = useWords().start
  const me = useMe()
  return (
    <Page title={words.title(me.tenant.name)}>
      <div className="grid max-w-[800px] gap-8">
        <Section title={words.question}>
          {me.is_owner && me.tenant.mode === 'rehearsal' && <RehearsalCard />}
          <p className="sound-width text-text-2">
            {words.real} {me.tenant.mode === 'rehearsal' && words.goesLive}{' '}
            <a href="/docs/" className="rounded-control text-accent underline">
              {words.reference}
            </a>
          </p>
        </Section>
      </div>
    </Page>
  )
}

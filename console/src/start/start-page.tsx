import type { ReactNode } from 'react'
import { AwsCard } from '../aws/aws-card.tsx'
import { useMe } from '../me/me.ts'
import { Page, Section } from '../parts/page.tsx'
import { InviteSection } from '../people/invite-section.tsx'
import { RehearsalCard } from '../rehearsal/rehearsal-card.tsx'
import { AccountsSection } from '../resources/accounts-section.tsx'
import { RulesSection } from '../rules/rules-section.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { WithSetUpWords } from './with-set-up-words.tsx'

/** The first steps of an organization: a rehearsal, and three forms in the order in which they are needed. */
export function StartPage(): ReactNode {
  return (
    <WithSetUpWords>
      <Steps />
    </WithSetUpWords>
  )
}

function Steps(): ReactNode {
  const words = useSetUpWords().start
  const me = useMe()
  const isRehearsing = me.tenant.mode === 'rehearsal'
  return (
    <Page title={words.title(me.tenant.name)}>
      <div className="grid max-w-[800px] gap-8">
        <Section title={words.question}>
          {me.is_owner && isRehearsing && <RehearsalCard />}
          <AwsCard />
          <p className="sound-width text-text-2">
            {words.real} {isRehearsing && words.goesLive}{' '}
            <a href="/docs/" className="rounded-control text-accent underline">
              {words.reference}
            </a>
          </p>
        </Section>
        <AccountsSection title={words.steps.resources} />
        <RulesSection title={words.steps.rules} />
        <InviteSection title={words.steps.people} />
      </div>
    </Page>
  )
}

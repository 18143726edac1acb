import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LoadFailure } from '../parts/list-states.tsx'
import { Page } from '../parts/page.tsx'
import { standIn } from '../rehearsal/stand-in.ts'
import { useWords } from '../words/words.ts'
import { FactorsSection } from './factors.tsx'
import { MailsSection } from './mails.tsx'
import { PasswordSection } from './password.tsx'
import { PreferencesSection } from './preferences-form.tsx'
import { profileQuery } from './queries.ts'
import { SessionsSection } from './sessions.tsx'
import { SignOut } from './sign-out.tsx'
import { Who } from './who.tsx'

/**
 * What a person sees and sets of themselves. Who signs in at a provider has a passphrase and second factors there, and a colleague of the
 * rehearsal has none.
 */
export function MePage(): ReactNode {
  const words = useWords().me
  const { data: profile, error, refetch } = useQuery(profileQuery)
  const isLocal = profile?.auth_provider === 'local' && standIn === undefined
  return (
    <Page title={words.title} actions={<SignOut className="lg:hidden" />}>
      <div className="grid max-w-[800px] gap-8">
        <Who />
        <PreferencesSection />
        {profile === undefined && error !== null && <LoadFailure error={error} retry={refetch} />}
        {isLocal && <PasswordSection />}
        {isLocal && <FactorsSection />}
        <SessionsSection />
        <MailsSection />
      </div>
    </Page>
  )
}

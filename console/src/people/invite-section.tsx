import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Entry, type Faults, faultsOf, refusedFaults } from './entry.ts'
import { InvitedList } from './invited-list.tsx'
import { LinkOnce, type Made } from './link-once.tsx'
import { invite, invitedQuery, rolesQuery, signInSettingsQuery } from './queries.ts'
import { RoleChoice } from './role-choice.tsx'
import { chosenRole, leastOffered, offeredRoles } from './roles.ts'

/** Invites a colleague, and shows who has not joined yet. Nothing for who may not invite. */
export function InviteSection({ title }: { title: string }): ReactNode {
  const words = useSetUpWords().people
  const { scopes } = useMe()
  const [made, setMade] = useState<Made>()
  const heading = useRef<HTMLHeadingElement>(null)
  if (!scopes.includes('users:write')) return null
  const close = () => {
    setMade(undefined)
    // The button that had the focus is gone.
    heading.current?.focus()
  }
  // Who was invited is read from the audit log, and their invitations from the users.
  const seesInvited = scopes.includes('users:read') && scopes.includes('audit:read')
  return (
    <Section title={title}>
      <Card className="grid gap-6">
        <h3 ref={heading} tabIndex={-1} className="text-body font-semibold">
          {words.title}
        </h3>
        <InviteForm onMade={setMade} />
        {made !== undefined && <LinkOnce key={made.invitation.id} made={made} close={close} />}
        {seesInvited && (
          <InvitedList
            onMade={setMade}
            onWithdrawn={(id) => setMade((shown) => (shown?.invitation.id === id ? undefined : shown))}
          />
        )}
      </Card>
    </Section>
  )
}

const empty: Entry = { email: '', name: '', role: 'user' }
const none: Faults = { email: undefined, name: undefined }

function InviteForm({ onMade }: { onMade: (made: Made) => void }): ReactNode {
  const words = useSetUpWords().people
  const { scopes } = useMe()
  const queries = useQueryClient()
  const { data: roles } = useQuery({ ...rolesQuery, enabled: scopes.includes('roles:read') })
  const act = useAct()
  const [entry, setEntry] = useState(empty)
  const [isTried, setTried] = useState(false)
  const offered = roles === undefined ? leastOffered : offeredRoles(roles.found, scopes)
  const role = chosenRole(offered, entry.role)
  const own = faultsOf(entry, words)
  const missing = isTried ? own : none
  const refused = refusedFaults(act.error, words)
  const faults = { email: missing.email ?? refused.email, name: missing.name ?? refused.name }
  const change = (part: Partial<Entry>) => setEntry((before) => ({ ...before, ...part }))

  const send = async () => {
    setTried(true)
    if (own.email !== undefined || own.name !== undefined) return act.clear()
    const body = { email: entry.email.trim(), name: entry.name.trim(), roles: [role] }
    await act.run(async (key) => {
      onMade({ invitation: await invite(body, key), isAgain: false })
      setEntry(empty)
      setTried(false)
      await queries.invalidateQueries({ queryKey: invitedQuery.queryKey })
    }, body)
  }
  return (
    <div className="grid max-w-[480px] gap-4">
      <Form className="grid gap-4" submit={send} aria-label={words.title}>
        <Field
          label={words.email}
          type="email"
          autoComplete="off"
          maxLength={1_000}
          error={faults.email}
          value={entry.email}
          onChange={(email) => change({ email })}
        />
        <Field
          label={words.name}
          autoComplete="off"
          maxLength={200}
          hint={words.nameHint}
          error={faults.name}
          value={entry.name}
          onChange={(name) => change({ name })}
        />
        <RoleChoice offered={offered} value={role} onChange={(chosen) => change({ role: chosen })} />
        <WayIn />
        <div>
          <Button type="submit" isPending={act.isPending}>
            {words.invite}
          </Button>
        </div>
      </Form>
      {/* Beside the form: it may ask for a sign-in, which is a form of its own. */}
      {refused.email === undefined && refused.name === undefined && <ActProblem act={act} />}
    </div>
  )
}

/** How the person joins, for who may read the settings. */
function WayIn(): ReactNode {
  const words = useSetUpWords().people
  const { scopes } = useMe()
  const { data } = useQuery({ ...signInSettingsQuery, enabled: scopes.includes('settings:read') })
  if (data === undefined) return null
  const { enabled, issuer } = data
  return (
    <p className="text-text-2 wrap-anywhere">
      {enabled && issuer !== null ? words.byProvider(hostOf(issuer)) : words.byPassphrase}
    </p>
  )
}

const hostOf = (issuer: string): string => (URL.canParse(issuer) ? new URL(issuer).host : issuer)

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Copy } from '../parts/copy.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'
import { useMe } from './me.ts'
import { profileQuery } from './queries.ts'

/** The person as the organization knows them. */
export function Who(): ReactNode {
  const { me: meWords, frame } = useWords()
  const words = meWords.who
  const me = useMe()
  const { data: profile } = useQuery(profileQuery)
  const roles = me.roles.map(({ name, own }) => (own ? name : words.byGroup(name)))
  return (
    <Section title={words.title}>
      <Card>
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[auto_1fr] sm:[&_dt]:min-w-32">
          <Fact name={words.name}>{profile?.display_name ?? me.name}</Fact>
          <Fact name={words.email}>{me.email}</Fact>
          {me.title !== undefined && <Fact name={words.jobTitle}>{me.title}</Fact>}
          {me.department !== undefined && <Fact name={words.department}>{me.department}</Fact>}
          {me.manager !== undefined && <Fact name={words.manager}>{me.manager.name}</Fact>}
          <Fact name={words.organization}>
            {me.tenant.name} · {frame.mode(me.tenant.mode === 'live')}
            <span className="flex items-center gap-1 text-meta text-text-2">
              <code className="font-mono break-all select-all" title={words.organizationId}>
                {me.tenant.id}
              </code>
              <Copy text={me.tenant.id} label={words.copyOrganizationId} />
            </span>
          </Fact>
          <Fact name={words.roles}>{listed([...(me.is_owner ? [words.owner] : []), ...roles], words.none)}</Fact>
          <Fact name={words.groups}>
            {listed(
              me.groups.map(({ name }) => name),
              words.none,
            )}
          </Fact>
        </dl>
      </Card>
    </Section>
  )
}

const listed = (names: readonly string[], none: string) => (names.length === 0 ? none : [...new Set(names)].join(', '))

function Fact({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div className="grid sm:col-span-2 sm:grid-cols-subgrid">
      <dt className="text-text-2">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  )
}

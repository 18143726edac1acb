import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { Badge } from '../parts/badge.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Card, Section } from '../parts/page.tsx'
import { readableId } from '../requests/request.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Account, environmentOf, isOfRehearsal } from './account.ts'
import { AddAccount } from './add-account.tsx'
import { accountsQuery } from './queries.ts'

/** The accounts that can be requested, and a form to add one. Nothing for who may not see them. */
export function AccountsSection({ title }: { title: string }): ReactNode {
  const words = useSetUpWords().resources
  const { scopes } = useMe()
  if (!scopes.includes('cloud_accounts:read')) return null
  return (
    <Section title={title}>
      <Card className="grid gap-6">
        <p className="sound-width text-text-2">{words.intro}</p>
        <Accounts />
        {scopes.includes('cloud_accounts:write') && <AddAccount />}
      </Card>
    </Section>
  )
}

function Accounts(): ReactNode {
  const words = useSetUpWords().resources
  const list = useInfiniteQuery(accountsQuery)
  const { data, error, refetch } = list
  const accounts = data?.pages.flatMap((page) => page.data)
  if (accounts === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  if (accounts.length === 0) return <p className="text-text-2">{words.none}</p>
  return (
    <div className="grid gap-3">
      <ul aria-label={words.list} className="divide-y divide-line border-y border-line">
        {accounts.map((account) => (
          <Row key={account.id} account={account} />
        ))}
      </ul>
      <LoadMore list={list} className="justify-self-start" />
    </div>
  )
}

function Row({ account }: { account: Account }): ReactNode {
  const words = useSetUpWords().resources
  const environment = environmentOf(account)
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-2">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
          <bdi>{account.name}</bdi>
          {isOfRehearsal(account) && (
            <Badge tone="rehearsal" icon="flask">
              {words.rehearsal}
            </Badge>
          )}
        </p>
        <p className="font-mono text-meta text-text-2 wrap-anywhere">{readableId(account.account_id)}</p>
      </div>
      <p className="text-text-2 wrap-anywhere">
        {environment === undefined ? words.noEnvironment : <bdi>{environment}</bdi>}
      </p>
    </li>
  )
}

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { Choice } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useSettled } from '../parts/settled.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { readingOf } from './inventory.ts'
import { type Filters, inventoryQuery } from './inventory-queries.ts'
import { StandingExport } from './standing-export.tsx'
import { StandingList } from './standing-list.tsx'
import type { View } from './view.ts'

/** Who holds what in AWS today, whether or not Sallyport gave it. Nothing before it was read. */
export function StandingAccess({ id }: { id: string }): ReactNode {
  const words = useSetUpWords().aws.standing
  const { data } = useQuery(inventoryQuery(id))
  const { filters, change, text, setText } = useFilters(id)
  const reading = data && readingOf(data)
  if (data === undefined || reading === undefined) return null
  const { assignments, administrators } = data.counts
  return (
    <Section title={words.title}>
      <Card className="grid gap-4">
        <p className="sound-width text-text-2">{words.intro}</p>
        {assignments !== null && administrators !== null && (
          <p className="text-sentence font-medium">{words.total(assignments, administrators)}</p>
        )}
        <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
          <Choice
            label={words.order}
            value={filters.order}
            options={[
              { value: 'account', text: words.byAccount },
              { value: 'person', text: words.byPerson },
            ]}
            onChange={(order) => change({ order: order === 'person' ? order : undefined })}
          />
          <label className="flex min-h-8 items-center gap-2 touch:min-h-11">
            <input
              type="checkbox"
              className="size-4 shrink-0 accent-(--accent)"
              checked={filters.administrators}
              onChange={({ target }) => change({ administrators: target.checked ? 'true' : undefined })}
            />
            {words.administrators}
          </label>
        </div>
        <div className="max-w-[480px]">
          <Field
            label={words.search}
            type="search"
            autoComplete="off"
            maxLength={200}
            hint={words.searchHint}
            value={text}
            onChange={setText}
          />
        </div>
        <StandingList
          id={id}
          filters={filters}
          reading={reading}
          clear={() => {
            setText('')
            change({ administrators: undefined, q: undefined })
          }}
        />
        <StandingExport id={id} filters={filters} />
      </Card>
    </Section>
  )
}

/** What is shown, as it stands in the address; `text`: what is typed into the search. */
function useFilters(id: string) {
  const { order = 'account', administrators, q = '' } = useSearch({ from: '/aws' })
  const navigate = useNavigate({ from: '/aws' })
  const [text, setText] = useState(q)
  const settled = useSettled(text.trim())
  const change = useCallback(
    (part: Partial<View>) => {
      const search = (before: View) => ({ ...before, connection: id, ...part })
      navigate({ search, replace: true, resetScroll: false }).catch((error: unknown) => reportError(error))
    },
    [id, navigate],
  )
  useEffect(() => {
    if (settled !== q) change({ q: settled === '' ? undefined : settled })
  }, [settled, q, change])
  const filters: Filters = { order, administrators: administrators === 'true', q }
  return { filters, change, text, setText }
}

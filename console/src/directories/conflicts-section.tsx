import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { LoadFailure } from '../parts/list-states.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { ConflictItem } from './conflict-item.tsx'
import { conflictsQuery } from './conflict-queries.ts'
import type { Directory } from './directory.ts'
import { maySettle } from './rights.ts'

/** Who in the directory has the address of another user here. Nothing where nobody has. */
export function ConflictsSection({ directory }: { directory: Directory }): ReactNode {
  const words = useSetUpWords().directories.conflicts
  const may = maySettle(useMe())
  const list = useInfiniteQuery(conflictsQuery(directory.id))
  const { data, error, refetch } = list
  if (data === undefined) return error !== null && <LoadFailure error={error} retry={refetch} />
  const found = data.pages.flatMap((page) => page.data)
  if (found.length === 0) return null
  return (
    <Section title={words.title}>
      <Card className="grid gap-4">
        <p className="sound-width text-text-2">{words.intro}</p>
        {!may && <p className="text-text-2">{words.noRight}</p>}
        <ul aria-label={words.title} className="divide-y divide-line">
          {found.map((conflict) => (
            <ConflictItem key={conflict.id} conflict={conflict} directory={directory} may={may} />
          ))}
        </ul>
        <LoadMore list={list} className="justify-self-start" />
      </Card>
    </Section>
  )
}

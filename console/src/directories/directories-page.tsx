import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { buttonClass } from '../parts/button.tsx'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card, Page } from '../parts/page.tsx'
import { WithSetUpWords } from '../start/with-set-up-words.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { DirectoryRow } from './directory-row.tsx'
import { directoriesQuery } from './queries.ts'
import { mayConnect } from './rights.ts'

/** Where users and groups come from. */
export function DirectoriesPage(): ReactNode {
  return (
    <WithSetUpWords>
      <Directories />
    </WithSetUpWords>
  )
}

function Directories(): ReactNode {
  const words = useSetUpWords().directories
  const canConnect = mayConnect(useMe())
  const { data, error, refetch } = useQuery(directoriesQuery)
  const isEmpty = data?.length === 0
  return (
    <Page title={words.title} actions={canConnect && data !== undefined && !isEmpty && <ConnectLink look="outline" />}>
      <div className="grid max-w-[800px] gap-6">
        <p className="sound-width text-text-2">{words.intro}</p>
        {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
        {isEmpty && (
          <Card>
            <Empty action={canConnect && <ConnectLink look="primary" />}>
              {canConnect ? words.none : words.noneToRead}
            </Empty>
          </Card>
        )}
        {data !== undefined && !isEmpty && (
          <ul aria-label={words.title} className="grid gap-4">
            {data.map((directory) => (
              <DirectoryRow key={directory.id} listed={directory} />
            ))}
          </ul>
        )}
      </div>
    </Page>
  )
}

function ConnectLink({ look }: { look: 'primary' | 'outline' }): ReactNode {
  const words = useSetUpWords().directories
  return (
    <Link to="/directories/new" className={buttonClass(look)}>
      {words.connectOne}
    </Link>
  )
}

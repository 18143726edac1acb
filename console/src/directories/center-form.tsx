import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { connectionsQuery } from '../aws/queries.ts'
import { buttonClass } from '../parts/button.tsx'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Directory } from './directory.ts'
import { ReadForm } from './read-form.tsx'
import { storesOf } from './stores.ts'

/** The form for Identity Center, which is read by a connection to AWS: where none was tested, the way there. */
export function CenterForm({ shown }: { shown?: Tagged<Directory> }): ReactNode {
  const words = useSetUpWords().directories.connect
  const { data, error, refetch } = useQuery(connectionsQuery)
  if (data === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  const stores = storesOf(data)
  if (stores.length > 0) return <ReadForm way="center" stores={stores} {...(shown !== undefined && { shown })} />
  return (
    <Empty
      action={
        <Link to="/aws" className={buttonClass('outline')}>
          {words.toAws}
        </Link>
      }
    >
      {words.noConnection}
    </Empty>
  )
}

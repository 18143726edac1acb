import type { ReactNode } from 'react'
import { Said } from '../parts/field.tsx'
import { Select } from '../parts/select.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Entry } from './fields.ts'
import type { Store } from './stores.ts'

type StoreChoiceProps = {
  stores: readonly Store[]
  store: Entry['store']
  choose: (store: Entry['store']) => void
  error: string | undefined
}

/** By which connection to AWS Identity Center is read. */
export function StoreChoice({ stores, store, choose, error }: StoreChoiceProps): ReactNode {
  const words = useSetUpWords().directories.connect
  const pick = (id: string) => {
    const found = stores.find(({ provisioner_id }) => provisioner_id === id)
    choose(found && { provisioner_id: found.provisioner_id, identity_store_id: found.identity_store_id })
  }
  return (
    <div className="grid gap-1">
      <Select
        label={words.connection}
        value={store?.provisioner_id ?? ''}
        options={[
          { value: '', text: words.choose },
          ...stores.map(({ provisioner_id, name, identity_store_id }) => ({
            value: provisioner_id,
            text: `${name} · ${identity_store_id}`,
          })),
        ]}
        onChange={pick}
      />
      {error !== undefined && (
        <div role="alert">
          <Said id="store-said" isFault>
            {error}
          </Said>
        </div>
      )}
    </div>
  )
}

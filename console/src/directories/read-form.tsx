import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { faultOf } from '../api/faults.ts'
import type { Tagged } from '../api/tagged.ts'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Form } from '../parts/form.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { ConfigFields } from './config-fields.tsx'
import type { Directory } from './directory.ts'
import { configOf, type Entry, entryOf, missingIn, type ReadWay } from './fields.ts'
import { NameField } from './name-field.tsx'
import { changeDirectory, createDirectory, startRun } from './queries.ts'
import type { Store } from './stores.ts'

/** The types under which directories are made that are read. */
const types = { ldap: 'directory_a', scim: 'directory_b', center: 'cloud_identity_center' } as const

type ReadFormProps = { way: ReadWay; stores?: readonly Store[]; shown?: Tagged<Directory> }

/** Says where a directory is read, and looks at it: a new one, or `shown`. What the service finds wrong stands at its field. */
export function ReadForm({ way, stores = [], shown }: ReadFormProps): ReactNode {
  const words = useSetUpWords().directories.connect
  const queries = useQueryClient()
  const navigate = useNavigate()
  const act = useAct()
  /** It is made even where it cannot be read yet: the next try corrects it. */
  const [made, setMade] = useState(shown)
  const [name, setName] = useState(shown?.record.name ?? '')
  const [entry, setEntry] = useState<Entry>(() => entryOf(way, shown?.record.config ?? {}))
  const [isTried, setTried] = useState(false)
  const before = made?.record.config
  const missing = missingIn(way, entry, before)
  const isStoreMissing = way === 'center' && entry.store === undefined
  const faults = {
    name: isTried && name.trim() === '' ? words.nameNeeded : faultOf(act.error, '/name'),
    config: (field: string) => {
      const isMissing = missing.some((one) => one === field) || (field === 'provisioner_id' && isStoreMissing)
      if (isTried && isMissing) return words.needed
      // The service quotes names with backticks.
      return faultOf(act.error, `/config/${field}`)?.replaceAll(/`([^`]*)`/g, '“$1”')
    },
  }
  const isAtField = act.error !== undefined && hasFields(act.error)

  const look = async () => {
    setTried(true)
    if (name.trim() === '' || missing.length > 0 || isStoreMissing) return act.clear()
    const body = { name: name.trim(), config: configOf(way, entry, before) }
    await act.run(async (key) => {
      const saved =
        made === undefined
          ? await createDirectory({ ...body, provider_type: types[way] }, key)
          : await changeDirectory(made, body)
      setMade(saved)
      // From now on, the service has them.
      setEntry((now) => ({ ...now, texts: { ...now.texts, ...noSecrets } }))
      await queries.invalidateQueries({ queryKey: ['identity_provider'] })
      const { id } = saved.record
      const run = await startRun(id, { dry_run: true }, key)
      await navigate({ to: '/directories/$id', params: { id }, search: { run: run.id } })
    }, body)
  }
  return (
    <div className="grid max-w-[480px] gap-4">
      <Form className="grid gap-4" submit={look} aria-label={shown === undefined ? words.title : words.settings}>
        <NameField name={name} change={setName} error={faults.name} />
        <ConfigFields
          way={way}
          stores={stores}
          entry={entry}
          change={(part) => setEntry((now) => ({ ...now, ...part }))}
          faultOf={faults.config}
          isStored={made !== undefined}
        />
        <div className="grid justify-items-start gap-2">
          <Button type="submit" look={shown === undefined ? 'primary' : 'outline'} isPending={act.isPending}>
            {shown === undefined ? words.look : words.save}
          </Button>
          <p className="text-meta text-text-2">{words.lookHint}</p>
        </div>
      </Form>
      {/* Beside the form: it may ask for a sign-in, which is a form of its own. */}
      {!isAtField && <ActProblem act={act} />}
    </div>
  )
}

const noSecrets = { bind_password: '', token: '' }

/** Whether the service says which fields are wrong. */
const hasFields = (error: Error & { details?: { fields?: unknown } }): boolean =>
  Array.isArray(error.details?.fields) && error.details.fields.length > 0

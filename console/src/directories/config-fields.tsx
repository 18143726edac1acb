import type { ReactNode } from 'react'
import { Choice } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type ConfigField, type Entry, type FieldName, fieldsOf, type ReadWay } from './fields.ts'
import { StoreChoice } from './store-choice.tsx'
import type { Store } from './stores.ts'

type ConfigFieldsProps = {
  way: ReadWay
  /** Of a connection to AWS. */
  stores: readonly Store[]
  entry: Entry
  change: (part: Partial<Entry>) => void
  /** What is wrong with a field of the config. */
  faultOf: (name: FieldName | 'start_tls' | 'tls' | 'provisioner_id' | 'identity_store_id') => string | undefined
  /** Secrets are stored: an empty field keeps its own. */
  isStored: boolean
}

/** The fields of a directory that is read: those that each needs, and below a fold those that few need. */
export function ConfigFields({ way, stores, entry, change, faultOf, isStored }: ConfigFieldsProps): ReactNode {
  const words = useSetUpWords().directories.connect
  const set = (name: FieldName, text: string) => change({ texts: { ...entry.texts, [name]: text } })
  const input = (field: ConfigField) => (
    <Input
      key={field.name}
      field={field}
      text={entry.texts[field.name] ?? ''}
      error={faultOf(field.name)}
      hint={isStored && field.kind === 'secret' ? words.keepSecret : words.fields[field.name].hint}
      set={(text) => set(field.name, text)}
    />
  )
  const fields = fieldsOf[way]
  const more = fields.filter(({ isMore }) => isMore)
  // What is wrong must not be hidden.
  const isFaulty = more.some(({ name }) => faultOf(name) !== undefined)
  return (
    <>
      {way === 'center' && (
        <StoreChoice
          stores={stores}
          store={entry.store}
          choose={(store) => change({ store })}
          error={faultOf('provisioner_id') ?? faultOf('identity_store_id')}
        />
      )}
      {fields.filter(({ isMore }) => !isMore).map(input)}
      {way === 'ldap' && (
        <Choice
          label={words.tls}
          value={entry.start_tls ? 'start_tls' : 'at_once'}
          options={(['at_once', 'start_tls'] as const).map((value) => ({ value, text: words.tlsWays[value] }))}
          onChange={(value) => change({ start_tls: value === 'start_tls' })}
        />
      )}
      <details open={isFaulty || undefined}>
        <summary className="w-fit rounded-control font-medium">{words.more}</summary>
        <div className="mt-4 grid gap-4">{more.map(input)}</div>
      </details>
    </>
  )
}

type InputProps = {
  field: ConfigField
  text: string
  error: string | undefined
  hint: string
  set: (text: string) => void
}

function Input({ field: { name, kind }, text, error, hint, set }: InputProps): ReactNode {
  const words = useSetUpWords().directories.connect.fields
  return (
    <Field
      label={words[name].label}
      type={kind === 'secret' ? 'password' : 'text'}
      // No password manager has it: it is of no person.
      autoComplete={kind === 'secret' ? 'new-password' : 'off'}
      autoCapitalize="none"
      spellCheck={false}
      {...(kind === 'number' && { inputMode: 'numeric' as const })}
      {...(kind === 'lines' && { lines: 3 })}
      hint={hint}
      error={error}
      value={text}
      onChange={set}
    />
  )
}

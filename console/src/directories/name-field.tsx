import type { ReactNode } from 'react'
import { Field } from '../parts/field.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'

type NameFieldProps = { name: string; change: (name: string) => void; error: string | undefined }

/** What a directory is called here. */
export function NameField({ name, change, error }: NameFieldProps): ReactNode {
  const words = useSetUpWords().directories.connect
  return (
    <Field
      label={words.name}
      autoComplete="off"
      maxLength={200}
      hint={words.nameHint}
      error={error}
      value={name}
      onChange={change}
    />
  )
}

import { type ReactNode, useId } from 'react'
import { box } from './field.tsx'

export type Option = { value: string; text: string }

type SelectProps = {
  label: string
  hint?: string | undefined
  value: string
  options: readonly Option[]
  /** Further options below a heading each. */
  groups?: readonly { name: string; options: readonly Option[] }[]
  onChange: (value: string) => void
}

/** One of many: the list of the browser, which phones show in their own way, and in which typing finds an entry. */
export function Select({ label, hint, value, options, groups = [], onChange }: SelectProps): ReactNode {
  const id = useId()
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="text-body font-medium">
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-said`}
        className={`${box} h-8 touch:h-11`}
        onChange={({ target }) => onChange(target.value)}
      >
        <Options of={options} />
        {groups.map(({ name, options: ofGroup }) => (
          <optgroup key={name} label={name}>
            <Options of={ofGroup} />
          </optgroup>
        ))}
      </select>
      {hint !== undefined && (
        <p id={`${id}-said`} className="text-meta text-text-2">
          {hint}
        </p>
      )}
    </div>
  )
}

function Options({ of }: { of: readonly Option[] }): ReactNode {
  return of.map(({ value, text }) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
}

import { type ReactNode, useId } from 'react'
import { Select } from '../parts/select.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Offered } from './roles.ts'

type RoleChoiceProps = { offered: Offered; value: string; onChange: (role: string) => void }

/** What the person may do: one plain sentence for each role. */
export function RoleChoice({ offered, value, onChange }: RoleChoiceProps): ReactNode {
  const words = useSetUpWords().people
  const group = useId()
  const [firstOwn] = offered.own
  const isOwn = offered.own.some(({ id }) => id === value)
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 text-body font-medium">{words.role}</legend>
      {offered.system.map((id) => (
        <Role key={id} {...words.roles[id]} group={group} isChosen={value === id} choose={() => onChange(id)} />
      ))}
      {firstOwn !== undefined && (
        <Role
          name={words.otherRole.name}
          means={words.otherRole.means}
          group={group}
          isChosen={isOwn}
          choose={() => onChange(firstOwn.id)}
        />
      )}
      {isOwn && (
        <Select
          label={words.whichRole}
          hint={offered.own.find(({ id }) => id === value)?.description || undefined}
          value={value}
          options={offered.own.map(({ id, name }) => ({ value: id, text: name }))}
          onChange={onChange}
        />
      )}
    </fieldset>
  )
}

type RoleProps = { name: string; means: string; group: string; isChosen: boolean; choose: () => void }

function Role({ name, means, group, isChosen, choose }: RoleProps): ReactNode {
  const id = useId()
  return (
    <label className="grid cursor-pointer grid-cols-[auto_1fr] gap-x-3 rounded-control border border-control bg-surface px-3 py-2 hover:bg-sunken has-checked:border-accent has-checked:bg-accent-tint has-checked:ring-1 has-checked:ring-accent has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
      <input
        type="radio"
        name={group}
        checked={isChosen}
        onChange={choose}
        aria-labelledby={`${id}-name`}
        aria-describedby={`${id}-means`}
        className="row-span-2 mt-0.5 size-4 accent-accent outline-none"
      />
      <span id={`${id}-name`} className="font-medium">
        {name}
      </span>
      <span id={`${id}-means`} className="text-text-2">
        {means}
      </span>
    </label>
  )
}

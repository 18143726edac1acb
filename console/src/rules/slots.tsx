import { type ReactNode, useId } from 'react'
import type { Option } from '../parts/select.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { minutesOfDay } from './clock.ts'
import type { Facts } from './facts.ts'
import { whereText, whoText } from './slot-texts.ts'
import { offeredLimits, type Slot, type Slots, type Where, type Who } from './templates.ts'

const look =
  'field-sizing-content max-w-[calc(100%-8px)] rounded-control border border-control bg-surface px-1.5 font-medium text-text h-8 touch:h-11 aria-invalid:border-bad'

export type SlotProps = {
  slots: Slots
  change: (change: Partial<Slots>) => void
  facts: Facts
  /** The id of the text that says what is wrong with this slot. */
  faultId?: string | undefined
}

/** The control in the place of a slot. */
export function SlotControl({ slot, ...props }: SlotProps & { slot: Slot }): ReactNode {
  switch (slot) {
    case 'who':
      return <WhoSlot {...props} />
    case 'where':
      return <WhereSlot {...props} />
    case 'action':
      return <ActionSlot {...props} />
    case 'seconds':
      return <LimitSlot {...props} />
    default:
      return <ClockSlot slot={slot} {...props} />
  }
}

type InlineProps = {
  label: string
  value: string
  options: readonly Option[]
  groups?: readonly { name: string; options: readonly Option[] }[]
  faultId?: string | undefined
  onChange: (value: string) => void
}

/** A list of the browser within a sentence, as wide as what is chosen. */
function Inline({ label, value, options, groups = [], faultId, onChange }: InlineProps): ReactNode {
  return (
    <select
      aria-label={label}
      aria-invalid={faultId === undefined ? undefined : true}
      aria-describedby={faultId}
      value={value}
      className={look}
      onChange={({ target }) => onChange(target.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
      {groups
        .filter((group) => group.options.length > 0)
        .map((group) => (
          <optgroup key={group.name} label={group.name}>
            {group.options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.text}
              </option>
            ))}
          </optgroup>
        ))}
    </select>
  )
}

function WhoSlot({ slots, change, facts }: SlotProps): ReactNode {
  const words = useSetUpWords()
  const { rules } = words
  const option = (who: Who) => ({ value: JSON.stringify(who), text: whoText(who, facts.names, words) })
  return (
    <Inline
      label={rules.slots.who}
      value={JSON.stringify(slots.who)}
      options={[option({ kind: 'everyone' })]}
      groups={[
        { name: rules.groups, options: facts.groups.map(({ id }) => option({ kind: 'group', id })) },
        { name: rules.roles, options: facts.roles.map(({ id }) => option({ kind: 'role', id })) },
      ]}
      onChange={(value) => change({ who: JSON.parse(value) as Who })}
    />
  )
}

function WhereSlot({ slots, change, facts }: SlotProps): ReactNode {
  const words = useSetUpWords()
  const { rules } = words
  const option = (where: Where) => ({ value: JSON.stringify(where), text: whereText(where, facts.names, words) })
  return (
    <Inline
      label={rules.slots.where}
      value={JSON.stringify(slots.where)}
      options={[option({ kind: 'all' })]}
      groups={[
        { name: rules.byTag, options: facts.tags.map((value) => option({ kind: 'tag', value })) },
        { name: rules.oneAccount, options: facts.accounts.map(({ id }) => option({ kind: 'account', id })) },
      ]}
      onChange={(value) => change({ where: JSON.parse(value) as Where })}
    />
  )
}

function ActionSlot({ slots, change, facts, faultId }: SlotProps): ReactNode {
  const words = useSetUpWords().rules
  const id = useId()
  return (
    <>
      <input
        aria-label={words.slots.action}
        aria-invalid={faultId === undefined ? undefined : true}
        aria-describedby={faultId}
        list={id}
        value={slots.action}
        size={Math.max(8, slots.action.length)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        className={`${look} min-w-24`}
        onChange={({ target }) => change({ action: target.value })}
      />
      <datalist id={id}>
        {facts.actions.map((action) => (
          <option key={action} value={action} />
        ))}
      </datalist>
    </>
  )
}

function LimitSlot({ slots, change, facts }: SlotProps): ReactNode {
  const words = useSetUpWords()
  return (
    <Inline
      label={words.rules.slots.seconds}
      value={String(slots.seconds)}
      options={offeredLimits(facts.longest, slots.seconds).map((seconds) => ({
        value: String(seconds),
        text: words.time.duration(seconds),
      }))}
      onChange={(value) => change({ seconds: Number(value) })}
    />
  )
}

const hours = Array.from({ length: minutesOfDay / 60 + 1 }, (_hour, index) => index * 60)

function ClockSlot({ slot, slots, change, facts, faultId }: SlotProps & { slot: 'from' | 'until' }): ReactNode {
  const words = useSetUpWords().rules
  const offered = slot === 'from' ? hours.slice(0, -1) : hours.slice(1)
  return (
    <Inline
      label={words.slots[slot]}
      value={String(slots[slot])}
      options={offered.map((minutes) => ({ value: String(minutes), text: facts.names.clock(minutes) }))}
      faultId={slot === 'until' ? faultId : undefined}
      onChange={(value) => change({ [slot]: Number(value) })}
    />
  )
}

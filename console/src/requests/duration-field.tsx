import { type ReactNode, useState } from 'react'
import { Choice } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { useWords } from '../words/words.ts'
import { offeredDurations } from './request.ts'

type DurationFieldProps = {
  usual: number
  longest: number
  /** In seconds; undefined while the entry is not a duration. */
  value: number | undefined
  onChange: (seconds: number | undefined) => void
}

/** Chips of common times, and a field for any other. */
export function DurationField({ usual, longest, value, onChange }: DurationFieldProps): ReactNode {
  const words = useWords()
  const { form } = words.requests
  const offered = offeredDurations(usual, longest)
  const [isOther, setOther] = useState(false)
  const [minutes, setMinutes] = useState('')
  const showsOther = isOther || (value !== undefined && !offered.includes(value))
  const options = [
    ...offered.map((seconds) => ({ value: String(seconds), text: words.time.duration(seconds) })),
    { value: 'other', text: form.otherDuration },
  ]
  const enter = (text: string) => {
    setMinutes(text)
    onChange(readMinutes(text, longest))
  }
  return (
    <>
      <Choice
        label={form.duration}
        value={showsOther ? 'other' : String(value)}
        options={options}
        onChange={(chosen) => {
          setOther(chosen === 'other')
          if (chosen !== 'other') return onChange(Number(chosen))
          enter(String(Math.round((value ?? usual) / 60)))
        }}
      />
      {showsOther && (
        <Field
          label={form.minutes}
          hint={form.minutesHint(words.time.duration(longest))}
          error={value === undefined ? form.minutesWrong(String(Math.floor(longest / 60))) : undefined}
          inputMode="numeric"
          value={isOther ? minutes : String(Math.round((value ?? 0) / 60))}
          onChange={(text) => {
            setOther(true)
            enter(text)
          }}
        />
      )}
    </>
  )
}

/** The seconds of whole minutes; undefined for anything else. */
function readMinutes(text: string, longest: number): number | undefined {
  if (!/^\d{1,6}$/.test(text.trim())) return undefined
  const seconds = Number(text) * 60
  return seconds >= 60 && seconds <= longest ? seconds : undefined
}

import { type ReactNode, useId } from 'react'

type ChoiceProps = {
  label: string
  value: string
  options: readonly { value: string; text: string }[]
  onChange: (value: string) => void
}

/** One of a few, as chips: radio buttons of the browser, so arrow keys move. */
export function Choice({ label, value, options, onChange }: ChoiceProps): ReactNode {
  const name = useId()
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 text-body font-medium">{label}</legend>
      <div className="flex flex-wrap gap-2">
        {options.map((option) => (
          <label
            key={option.value}
            className="inline-flex min-h-8 cursor-pointer items-center rounded-control border border-control bg-surface px-3 py-1 text-body font-medium wrap-anywhere touch:min-h-11 hover:bg-sunken has-checked:border-accent has-checked:bg-accent-tint has-checked:text-accent has-checked:ring-1 has-checked:ring-accent has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              className="sr-only"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            {option.text}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

import { CircleAlert } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'

/** How fields look. */
export const box =
  'w-full rounded-control border border-control bg-surface px-3 text-body text-text touch:text-sentence aria-invalid:border-bad disabled:border-line disabled:bg-sunken disabled:text-text-2'

type FieldProps = Omit<ComponentProps<'input'>, 'onChange' | 'value'> & {
  label: string
  hint?: string | undefined
  /** What is wrong and what to do: it takes the place of the hint. */
  error?: string | undefined
  /** More than one line. */
  lines?: number
  value: string
  onChange: (text: string) => void
}

/** A field: the label above, the hint or the error below. */
export function Field({ label, hint, error, lines, onChange, ...props }: FieldProps): ReactNode {
  const id = useId()
  const said = error ?? hint
  const shared = {
    id,
    'aria-invalid': error === undefined ? undefined : true,
    'aria-describedby': said === undefined ? undefined : `${id}-said`,
  }
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-body font-medium">
        {label}
      </label>
      {lines === undefined ? (
        <input
          {...props}
          {...shared}
          className={`${box} h-8 touch:h-11`}
          onChange={({ target }) => onChange(target.value)}
        />
      ) : (
        <textarea
          {...shared}
          rows={lines}
          value={props.value}
          className={`${box} py-2`}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      {said !== undefined && (
        <Said id={`${id}-said`} isFault={error !== undefined}>
          {said}
        </Said>
      )}
    </div>
  )
}

/** What is said of an entry, below it: a hint, or what is wrong with it. */
export function Said({ id, isFault, children }: { id: string; isFault: boolean; children: ReactNode }): ReactNode {
  return (
    <p id={id} className={`flex gap-1 text-meta ${isFault ? 'text-bad' : 'text-text-2'}`}>
      {isFault && <CircleAlert size={14} strokeWidth={1.75} aria-hidden="true" className="mt-px shrink-0" />}
      {children}
    </p>
  )
}

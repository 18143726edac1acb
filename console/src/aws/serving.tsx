import type { ReactNode } from 'react'
import { useSetUpWords } from '../words/set-up-words.ts'

/** The types of resource on which a connection can give access. */
const types = ['cloud_account', 'cloud_db_instance', 'cloud_storage_bucket', 'cloud_compute_instance'] as const
export type Served = (typeof types)[number]

type ServingProps = { served: readonly Served[]; serve: (served: readonly Served[]) => void }

/** On what a connection gives access. */
export function Serving({ served, serve }: ServingProps): ReactNode {
  const words = useSetUpWords().aws.on
  const toggle = (type: Served, isServed: boolean) =>
    serve(types.filter((one) => (one === type ? isServed : served.includes(one))))
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 font-medium">{words.serves}</legend>
      {types.map((type) => (
        <label key={type} className="flex min-h-8 items-center gap-2 touch:min-h-11">
          <input
            type="checkbox"
            className="size-4 shrink-0 accent-(--accent)"
            checked={served.includes(type)}
            onChange={({ target }) => toggle(type, target.checked)}
          />
          {words.kinds[type]}
        </label>
      ))}
      <p className="text-meta text-text-2">{words.servesHint}</p>
    </fieldset>
  )
}

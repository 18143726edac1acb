import { Unreachable } from '@sallyport/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { faultOf } from '../api/faults.ts'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Form } from '../parts/form.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { keepKey, makeKey } from './key-queries.ts'
import { NameField } from './name-field.tsx'
import { createDirectory } from './queries.ts'

/** Makes a directory that pushes, with its key. Its page shows both. */
export function PushForm(): ReactNode {
  const { push, connect: words } = useSetUpWords().directories
  const queries = useQueryClient()
  const navigate = useNavigate()
  const act = useAct()
  const [name, setName] = useState('')
  const [isTried, setTried] = useState(false)
  const refused = faultOf(act.error, '/name')
  const missing = isTried && name.trim() === '' ? words.nameNeeded : undefined

  const make = async () => {
    setTried(true)
    if (name.trim() === '') return act.clear()
    await act.run(async (key) => {
      const body = { name: name.trim(), provider_type: 'custom_scim' as const }
      const { id } = (await createDirectory(body, key)).record
      try {
        keepKey(id, (await makeKey(id, push.keyName(body.name), key)).key)
      } catch (error) {
        // The same try again gets the same answers.
        if (error instanceof Unreachable) throw error
        toast(push.keyMissing)
      }
      await queries.invalidateQueries({ queryKey: ['identity_provider'] })
      await navigate({ to: '/directories/$id', params: { id } })
    }, name)
  }
  return (
    <div className="grid max-w-[480px] gap-4">
      <Form className="grid gap-4" submit={make} aria-label={words.title}>
        <NameField name={name} change={setName} error={missing ?? refused} />
        <div>
          <Button type="submit" look="primary" isPending={act.isPending}>
            {words.make}
          </Button>
        </div>
      </Form>
      {/* Beside the form: it may ask for a sign-in, which is a form of its own. */}
      {refused === undefined && <ActProblem act={act} />}
    </div>
  )
}

import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { isOutdated, needsSignIn } from '../api/faults.ts'
import type { Act } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Problem } from '../parts/problem.tsx'
import { SignInAgain } from '../sign-in/sign-in-again.tsx'
import { useWords } from '../words/words.ts'
import { meQuery } from './me.ts'

/** Why an act did not happen. Where it needs a newer sign-in, the person signs in over the page, and the act goes on. */
export function ActProblem({ act }: { act: Act }): ReactNode {
  const words = useWords().me
  const { error } = act
  if (error === undefined) return null
  if (needsSignIn(error)) return <SignInFirst onSignedIn={act.again} />
  if (isOutdated(error))
    return (
      <p role="alert" className="rounded-control bg-wait-tint p-3 text-wait">
        {words.changedElsewhere}
      </p>
    )
  return <Problem error={error} />
}

function SignInFirst({ onSignedIn }: { onSignedIn: () => Promise<unknown> }): ReactNode {
  const words = useWords().me
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const goOn = async () => {
    setOpen(false)
    const before = queries.getQueryData(meQuery.queryKey)?.id
    await queries.invalidateQueries({ queryKey: ['me'] })
    // What one person began is not for another to finish.
    if (queries.getQueryData(meQuery.queryKey)?.id === before) await onSignedIn()
  }
  return (
    <div role="alert" className="grid justify-items-start gap-2 rounded-control bg-wait-tint p-3">
      <p className="text-wait">{words.signInFirst}</p>
      <Button onClick={() => setOpen(true)}>{words.signInAgain}</Button>
      {isOpen && <SignInAgain because={words.signInFirst} close={() => setOpen(false)} onSignedIn={goOn} />}
    </div>
  )
}

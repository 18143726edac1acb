import { type ReactNode, useState } from 'react'
import { useWords } from '../words/words.ts'
import { Button } from './button.tsx'
import { Modal } from './modal.tsx'
import { Problem } from './problem.tsx'

type ConfirmProps = {
  /** A question. */
  title: string
  /** What follows from it, with names and counts. */
  consequences: string
  /** Verb and noun. */
  act: string
  close: () => void
  /** Closes the dialog when it succeeds; a failure stays in it. */
  run: () => Promise<unknown>
}

/** Asks before what cannot be undone. The focus is on Cancel. */
export function Confirm({ title, consequences, act, close, run }: ConfirmProps): ReactNode {
  const words = useWords()
  const [error, setError] = useState<Error>()
  const [isPending, setPending] = useState(false)
  const go = async () => {
    setPending(true)
    setError(undefined)
    await run().then(close, (thrown: unknown) => setError(thrown as Error))
    setPending(false)
  }
  return (
    <Modal title={title} role="alertdialog" close={close}>
      <p>{consequences}</p>
      {error !== undefined && <Problem error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button autoFocus onClick={close}>
          {words.actions.keep}
        </Button>
        <Button look="danger" isPending={isPending} onClick={go}>
          {act}
        </Button>
      </div>
    </Modal>
  )
}

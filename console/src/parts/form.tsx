import type { ComponentProps, ReactNode } from 'react'

type FormProps = Omit<ComponentProps<'form'>, 'onSubmit' | 'noValidate'> & {
  /** It handles its own failures. */
  submit?: () => Promise<unknown>
}

/** A form that the page sends itself, and whose entries the page checks, in its own words. */
export function Form({ submit, ...props }: FormProps): ReactNode {
  return (
    <form
      {...props}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit?.().catch((error: unknown) => reportError(error))
      }}
    />
  )
}

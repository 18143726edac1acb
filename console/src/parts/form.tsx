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
        const form = event.currentTarget
        submit?.().then(
          () => focusFault(form),
          (error: unknown) => reportError(error),
        )
      }}
    />
  )
}

/** Puts the focus on the first faulty field, which may be far from the button, once the page shows what is wrong with it. */
export function focusFault(form: HTMLFormElement | null): void {
  const focus = () => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  // React shows what the service refused in a task of its own, which the next frame may precede.
  requestAnimationFrame(() => setTimeout(focus))
}

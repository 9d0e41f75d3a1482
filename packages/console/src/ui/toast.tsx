// Short messages about what has happened, read out by screen readers. A page that uses them shows `Toasts` once.
import { Toast } from '@base-ui/react/toast'

const manager = Toast.createToastManager()
const SHOWN_MS = 6_000

/** Says that something is done. What went wrong stays on the page, as an `ErrorNote`. */
export const announce = (title: string, description?: string): void => {
  manager.add({ title, ...(description !== undefined && { description }), timeout: SHOWN_MS })
}

export const Toasts = () => (
  <Toast.Provider toastManager={manager} limit={3}>
    <Toast.Portal>
      <Toast.Viewport className="toasts">
        <Shown />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)

const Shown = () =>
  Toast.useToastManager().toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <div>
        {/* Not a heading: it comes and goes. */}
        <Toast.Title className="toast-title" render={<p />} />
        {toast.description !== undefined && <Toast.Description className="soft" />}
      </div>
      <Toast.Close className="dialog-close" aria-label="Close">
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="m4 4 8 8m0-8-8 8" />
        </svg>
      </Toast.Close>
    </Toast.Root>
  ))

// htm 3.1.1 with preact, as far as our pages use it.
type Child = unknown;
interface State<S> { (next: S | ((before: S) => S)): void }
export function html(strings: TemplateStringsArray, ...values: unknown[]): any;
export function h(type: unknown, props: object | null, ...children: Child[]): any;
export function render(what: unknown, into: Element): void;
export function useState<S>(initial: S | (() => S)): [S, State<S>];
export function useEffect(effect: () => void | (() => void), on?: readonly unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), on?: readonly unknown[]): void;
export function useMemo<T>(make: () => T, on: readonly unknown[]): T;
export function useCallback<T>(callback: T, on: readonly unknown[]): T;
export function useRef<T>(initial: T): { current: T };
export class Component<P = any, S = any> {
  props: P;
  state: S;
  setState(change: Partial<S>): void;
  forceUpdate(): void;
}

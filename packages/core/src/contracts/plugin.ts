/** A contract that plugins fill. Its name carries the contract's major version: 'weir.state-backend/1'. */
export interface Role<in out T> {
  readonly name: string;
  readonly '~provides'?: (value: T) => T;
}
export function defineRole<T>(name: `${string}/${number}`): Role<T> {
  return { name };
}
/** What a factory may ask for. One scope per job. */
export interface Scope {
  get<T>(role: Role<T>): T;
}
export interface Binder {
  /** Adds a candidate for a role. `create` is called at most once per job; what it returns is closed with the job if it has Symbol.asyncDispose or Symbol.dispose. */
  provide<T>(role: Role<T>, type: string, create: (scope: Scope) => NoInfer<T>): void;
}
export interface Plugin {
  readonly name: string;
  install(binder: Binder): void;
}
export interface OptionsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}
export interface PluginFactory<O extends object> {
  (options?: O): Plugin;
  readonly plugin: { readonly name: string; readonly options: OptionsSchema };
}

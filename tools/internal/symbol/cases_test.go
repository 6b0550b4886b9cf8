package symbol

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// show writes a symbol as one line: kind qualified-name start-end.
func show(s Symbol) string {
	return fmt.Sprintf("%s %s %d-%d", s.Kind, s.Qualified(), s.Line, s.EndLine)
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

// defCase: a file whose definitions were written down by hand.
type defCase struct {
	trick string
	lang  string
	src   string
	want  string // one "kind name start-end" per line
	loose bool   // not well formed: ErrSyntax is expected
}

var defCases = []defCase{
	{trick: "go/three M: two receivers and a function", lang: "go", src: lines(
		"package p", "", "type A struct{}", "type B struct{}", "func (a A) M() {}", "func (b *B) M() {", "}", "func M() {}"),
		want: "struct A 3-3|struct B 4-4|method A.M 5-5|method B.M 6-7|function M 8-8"},
	{trick: "go/ghosts in comment and raw string", lang: "go", src: lines(
		"package p", "/* func ghost() {} */", "var s = `", "func ghost2() {}", "`", "func real() {}"),
		want: "variable s 3-5|function real 6-6"},
	{trick: "go/kinds, fields, embedded, generic receiver, local type", lang: "go", src: lines(
		"package p", "const (", "	X = iota", "	Y", ")", "var a, b = 1, 2", "type S[T any] struct {", "	F, G int", "	*E", "	in struct{ D int }", "}",
		"type I interface {", "	Do(x int) error", "}", "type Al = S[int]", "type N int", "func (s *S[T]) Get() { type L struct{ q int } }", "var _ = 1"),
		want: "constant X 3-3|constant Y 4-4|variable a 6-6|variable b 6-6|struct S 7-11|field S.F 8-8|field S.G 8-8|field S.E 9-9|field S.in 10-10|field S.in.D 10-10|interface I 12-14|method I.Do 13-13|type Al 15-15|type N 16-16|method S.Get 17-17|struct S.Get.L 17-17|field S.Get.L.q 17-17"},
	{trick: "go/broken in the middle", lang: "go", loose: true, src: lines(
		"package p", "func a() {}", "func b( {", "}", "func c() {}"), want: "function a 2-2|function b 3-4|function c 5-5"},
	{trick: "go/line directive moves nothing", lang: "go", src: lines("package p", "//line other.go:900", "func f() {}"), want: "function f 3-3"},
	{trick: "python/property pair", lang: "python", src: lines(
		"class A:", "    @property", "    def x(self):", "        return 1", "", "    @x.setter", "    def x(self, v):", "        pass", "", "# end"),
		want: "class A 1-8|method A.x 3-4|method A.x 7-8"},
	{trick: "python/ghosts in strings", lang: "python", src: lines(
		`"""`, "def ghost(): pass", `"""`, "x = '''", "class Ghost:", "'''", `y = r"\\"; z = f"{x!r:>{10}} def g():"`, "def real():", "    '''def inner(): pass'''", "    return \"\\", "def ghost3(): \""),
		want: "variable x 4-6|variable y 7-7|variable z 7-7|function real 8-11"},
	{trick: "python/nested, async, decorated, one-line, brackets", lang: "python", src: lines(
		"@deco(", "  a,", ")", "async def f(", "    a, b=[", "def_ := 1],", "):", "    def g(): return 1", "    class C: X = 1; y: int = 2", "", "    return g", "", "class D(Base, metaclass=M): pass", "if True:", "    def h():", "        pass", "else:", "    Z = lambda: {1: 2}"),
		want: "function f 4-11|function f.g 8-8|class f.C 9-9|constant f.C.X 9-9|field f.C.y 9-9|class D 13-13|function h 15-16|constant Z 18-18"},
	{trick: "python/f-string with its own quote inside (3.12)", lang: "python", src: lines(
		`a = f"{d["def x(): "]} {'}'} {{ {f'{b}'}"`, "def r(): pass"), want: "variable a 1-1|function r 2-2"},
	{trick: "python/tabs, form feed, BOM, CRLF, backslash", lang: "python", src: "\ufeffclass A:\r\n\tdef f(self):\r\n\t\tpass\r\n\f\r\n        def g(self):\\\r\n  pass\r\n\fdef h(): pass",
		want: "class A 1-6|method A.f 2-3|method A.g 5-6|function h 7-7"},
	{trick: "python/unclosed bracket does not hide the rest", lang: "python", loose: true, src: lines(
		"x = [1, 2", "def a():", "    pass", "y = (", "async def b(): pass"), want: "variable x 1-1|function a 2-3|variable y 4-4|function b 5-5"},
	{trick: "python/unterminated quote ends with its line", lang: "python", loose: true, src: lines("x = 'abc", "def a(): pass"), want: "variable x 1-1|function a 2-2"},
	{trick: "typescript/every shape of definition", lang: "typescript", src: lines(
		"export async function* gen(", "  a: number,", "  b: string,", ") {", "  yield 1", "}", "export default async function d(", "  x) {}", "export const arrow = async <T,>(", "  x: T,", ") => {", "  return x", "}",
		"abstract class Q<T> {", "  static async #priv(", "    a: T,", "  ) { }", "  get prop(", "  ): { a: number } {", "    return this.x", "  }", "  private readonly f: string = 'function no() {}'", "  g = (a: number) => a", "}", "declare function dd(", "  a: string): void;", "function last() {}"),
		want: "function gen 1-6|function d 7-8|function arrow 9-13|class Q 14-24|method Q.#priv 15-17|method Q.prop 18-21|field Q.f 22-22|method Q.g 23-23|function dd 25-26|function last 27-27"},
	{trick: "typescript/overloads, interface, enum, namespace, alias", lang: "typescript", src: lines(
		"function o(a: string): void;", "function o(a: number): { b: 1 };", "function o(a: any) { return a }", "export interface I extends J<{x: 1}> {", "  m(a: string): void", "  p?: number;", "}", "const enum E { A, B = 2 }", "namespace N.M {", "  export type T<X> = X | { y: 1 }", "}", "let v: (a: number) => void = null", "const re = /function ghost() {}/", "// function ghost2() {}"),
		want: "function o 1-1|function o 2-2|function o 3-3|interface I 4-7|method I.m 5-5|field I.p 6-6|enum E 8-8|constant E.A 8-8|constant E.B 8-8|module N.M 9-11|type N.M.T 10-10|variable v 12-12|constant re 13-13"},
	{trick: "javascript/template, prototype, exports, regex with a quote", lang: "javascript", src: lines(
		"const t = `", "function ghost() {} ${ (function inTpl() {})() }", "`", "Foo.prototype.bar = function (a) {", "}", "module.exports.baz = (x) => x", "const s = a.replace(/[/'\"`]/g, '')", "function real() {", "  const inner = () => { return 1 }", "  const notMe = 3", "}"),
		want: "constant t 1-3|function inTpl 2-2|method Foo.bar 4-5|function baz 6-6|constant s 7-7|function real 8-11|function real.inner 9-9"},
	{trick: "tsx/apostrophe and backtick in markup", lang: "tsx", src: lines(
		"export function App() {", "  return <p>Don't ` do {x}</p>", "}", "export const B = () => <a href=\"http://x\">y</a>", "function last() {}"),
		want: "function App 1-3|function B 4-4|function last 5-5"},
	{trick: "java/overloads, constructor, nested, enum, constant", lang: "java", src: lines(
		"package com.x;", "import java.util.*;", "@Foo(a = {1})", "public class A<T extends B> implements C {", "  private static final int MAX = 3;", "  Map<String, List<T>> map = new HashMap<>();", "  public A(int x) {}", "  void m() {}", "  @Override", "  public <X> List<X> m(int a)", "      throws E {", "    for (;;) { call(a); }", "  }", "  void m(String s) { /* void ghost() {} */ }", "  abstract int z();", "  enum E { P(1), Q { void q() {} }; int w() { return 1; } }", "  interface I { int k(); }", "}", "record R(int a, int b) {}", "class An { F f = new F<X>(1) { public int g() { return 1; } };", "  void h() { go(new Run() { public void run() { if (a(1)) { } } }); } }"),
		want: "class A 4-18|constant A.MAX 5-5|field A.map 6-6|method A.A 7-7|method A.m 8-8|method A.m 10-13|method A.m 14-14|method A.z 15-15|enum A.E 16-16|constant A.E.P 16-16|constant A.E.Q 16-16|method A.E.Q.q 16-16|method A.E.w 16-16|interface A.I 17-17|method A.I.k 17-17|class R 19-19|class An 20-21|field An.f 20-20|method An.g 20-20|method An.h 21-21|method An.h.run 21-21"},
	{trick: "c/definitions, prototypes left out, macros, branches of #if", lang: "c", src: lines(
		"#define MAX 10", "#define SQ(x) \\", "  ((x)*(x))", "static int proto(int);", "struct node { int val; struct node *next; };", "typedef struct { int a; } pt;", "typedef int (*cb)(int);", "enum color { RED, GREEN = 2 };", "static const char *names[] = { \"a\", \"b\" };", "#ifdef X", "int f(int a) {", "#else", "int f(long a) {", "#endif", "  if (a) { return g(a); }", "  return 0;", "}", "struct node *mk(void)", "{", "  return 0;", "}"),
		want: "constant MAX 1-1|function SQ 2-3|struct node 5-5|field node.val 5-5|field node.next 5-5|struct pt 6-6|type cb 7-7|enum color 8-8|constant color.RED 8-8|constant color.GREEN 8-8|constant names 9-9|function f 13-17|function mk 18-21"},
	{trick: "cpp/namespace, template, qualified, operator, destructor, raw string", lang: "cpp", src: lines(
		"namespace a::b {", "template <typename T> class V : public W<T> {", "public:", "  V(int n) : n_{n}, m_(2) {}", "  ~V() = default;", "  bool operator==(const V& o) const;", "  T get() const noexcept { return t; }", "private:", "  int n_ = 0;", "};", "}", "template <class T>", "T a::b::V<T>::put(int x) {", "  auto s = R\"x(void ghost() {})x\";", "}", "extern \"C\" {", "int api(void) { return 1'000; }", "}", "using Map = std::map<int, int>;", "class Fwd;", "template <typename T, typename = std::enable_if_t<1>>", "inline void srt(T a) {}", "constexpr decltype(auto) mk(int a) {}"),
		want: "module a.b 1-11|class a.b.V 2-10|method a.b.V.V 4-4|method a.b.V.~V 5-5|method a.b.V.operator== 6-6|method a.b.V.get 7-7|field a.b.V.n_ 9-9|method a.b.V.put 13-15|function api 17-17|type Map 19-19|function srt 22-22|function mk 23-23"},
	{trick: "csharp/properties, expression bodies, verbatim and raw strings", lang: "csharp", src: lines(
		"namespace A.B;", "public class C : Base<int> {", "  public int X { get; set; } = 3;", "  const string S = @\"class Ghost { \"\" }\";", "  int F(int a) => a * 2;", "  public C() : base(1) { }", "  string R = $\"{X} void Ghost() {{ }}\";", "  public static C operator +(C a, C b) { return a; }", "}", "public record P(int A, int B);", "enum E { One, Two }", "interface I { void M(); }"),
		want: "class C 2-9|field C.X 3-3|constant C.S 4-4|method C.F 5-5|method C.C 6-6|field C.R 7-7|method C.operator+ 8-8|class P 10-10|enum E 11-11|constant E.One 11-11|constant E.Two 11-11|interface I 12-12|method I.M 12-12"},
	{trick: "rust/impl for, lifetimes, raw strings, nested comments, macros", lang: "rust", src: lines(
		"mod m {", "  pub(crate) struct S<'a> { pub x: &'a str, y: Vec<(u8, u8)> }", "}", "enum E { A(u8), B { z: i32 }, C }", "trait T { fn req(&self) -> u8; const K: u8 = 1; }", "impl<'a> T for m::S<'a> where 'a: 'static {", "  fn req(&self) -> u8 { b'{' }", "}", "/* /* fn ghost() {} */ fn ghost2() {} */", "const Q: &str = r#\"fn ghost3() {\"#;", "pub async unsafe fn go<F: Fn() -> u8>(f: F) -> impl T {", "  let c = '{';", "}", "macro_rules! mac { () => { fn x() {} } }", "type Al = u8;", "static mut G: u8 = 0;", "struct Tup(u8);", "fn r#async() {}"),
		want: "module m 1-3|struct m.S 2-2|field m.S.x 2-2|field m.S.y 2-2|enum E 4-4|constant E.A 4-4|constant E.B 4-4|constant E.C 4-4|interface T 5-5|method T.req 5-5|constant T.K 5-5|method S.req 7-7|constant Q 10-10|function go 11-13|function mac 14-14|function x 14-14|type Al 15-15|variable G 16-16|struct Tup 17-17|function async 18-18"},
	{trick: "kotlin/nested comments, extension, companion, expression body", lang: "kotlin", src: lines(
		"package a.b", "/* /* fun ghost() {} */ fun ghost2() {} */", "data class D(val x: Int)", "class C<T> : B() {", "  companion object {", "    const val MAX = 1", "    fun make(): C = C()", "  }", "  private val v = \"${fun_()} fun ghost3() {}\"", "  override fun m(a: Int,", "    b: Int): Int {", "    return 1", "  }", "}", "fun <T> List<T>.ext(): Int = size", "enum class E { A, B(1); fun f() {} }", "object O { }", "fun `has space`() {}", "typealias X = Y", "fun interface FI { fun one() }"),
		want: "class D 3-3|field D.x 3-3|class C 4-14|constant C.MAX 6-6|method C.make 7-7|field C.v 9-9|method C.m 10-13|method List.ext 15-15|enum E 16-16|constant E.A 16-16|constant E.B 16-16|method E.f 16-16|class O 17-17|function has space 18-18|type X 19-19|interface FI 20-20|method FI.one 20-20"},
	{trick: "swift/extension, enum cases, operators, interpolation", lang: "swift", src: lines(
		"public protocol P { func req() -> Int }", "struct S: P {", "  let a: Int, b = 2", "  init(x: Int) { self.a = x }", "  static func == (l: S, r: S) -> Bool { true }", "  func req() -> Int { \"\\(a) func ghost() {}\".count }", "}", "extension S {", "  class func k() {}", "}", "enum E: String { case a = \"x\", b(Int)", "  case c }", "func free<T>(_ t: T) -> T {", "  let local = 1", "  return t", "}", "let top = #\"func ghost2() {\"#"),
		want: "interface P 1-1|method P.req 1-1|struct S 2-7|field S.a 3-3|method S.init 4-4|method S.== 5-5|method S.req 6-6|method S.k 9-9|enum E 11-12|constant E.a 11-11|constant E.b 11-11|constant E.c 12-12|function free 13-16|constant top 17-17"},
	{trick: "php/outside the tags, heredoc, class constants", lang: "php", src: lines(
		"function ghost() {}", "<?php", "namespace A\\B;", "abstract class C extends D {", "  const X = 1;", "  private ?int $n = 3;", "  public static function m(int $a): self { return new self; }", "  abstract function ab();", "}", "$s = <<<EOT", "function ghost2() {}", "EOT;", "function &real() { // ?> function ghost3() {} <?php", "  return \"{$x[1]} ${y} function ghost5() {\"; }", "interface I {}", "enum E: string { case Q = 'q'; }", "?> function ghost4() {}"),
		want: "class C 4-9|constant C.X 5-5|field C.$n 6-6|method C.m 7-7|method C.ab 8-8|function real 13-14|interface I 15-15|enum E 16-16|constant E.Q 16-16"},
	{trick: "ruby/heredoc, percent literal, endless, self, =begin", lang: "ruby", src: lines(
		"module M", "  class A::B < C", "    K = %w[def ghost]", "    def self.make(a)", "      <<~EOS", "        def ghost2", "        end", "      EOS", "    end", "    private def q? = 1", "    def x=(v); @x = v; end", "    class << self", "      def inner", "      end", "    end", "  end", "end", "=begin", "def ghost3", "=end", "def top", "  \"#{def_x} def ghost4\"", "end"),
		want: "module M 1-17|class M.A.B 2-16|constant M.A.B.K 3-3|method M.A.B.make 4-9|method M.A.B.q? 10-10|method M.A.B.x= 11-11|method M.A.B.inner 13-14|function top 21-23"},
	{trick: "shell/functions, heredoc, comment signs inside words", lang: "shell", src: lines(
		"#!/bin/sh", "# ghost() {", "NAME=\"x ghost2() {\"", "readonly MAX=3", "f() {", "  cat <<EOF", "ghost3() {", "EOF", "  echo ${x#y} $#", "}", "function g-h {", "  :", "}", "one() { :; }", "n=$((1 << 2))"),
		want: "variable NAME 3-3|constant MAX 4-4|function f 5-10|function g-h 11-13|function one 14-14|variable n 15-15"},
}

func TestDefinitions(t *testing.T) {
	for _, c := range defCases {
		t.Run(c.trick, func(t *testing.T) {
			syms, err := Parse(context.Background(), c.lang, c.src)
			if (err == ErrSyntax) != c.loose {
				t.Errorf("error %v, broken file expected: %v", err, c.loose)
			}
			var got []string
			for _, s := range syms {
				got = append(got, show(s))
			}
			want := strings.Split(c.want, "|")
			if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
				t.Errorf("got:\n%s\nwant:\n%s", g, w)
			}
		})
	}
}

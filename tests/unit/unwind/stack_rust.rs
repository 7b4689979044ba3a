// SPDX-License-Identifier: GPL-2.0-or-later
//
// main > outer > inner > a way to block that Rust's std has. See stack_program.c.
//
//     stack_rust read|mutex|channel|drop
use std::hint::black_box;
use std::io::Read;
use std::sync::{mpsc, Arc, Mutex};

#[inline(never)]
fn block() -> usize {
    let mut byte = [0u8];
    black_box(std::io::stdin().read(&mut byte).unwrap_or(0))
}

#[inline(never)]
fn on_mutex() -> usize {
    let shared = Arc::new(Mutex::new(0));
    let _held = shared.lock();
    let again = shared.clone();
    let taken = again.lock().map(|n| *n).unwrap_or(1);
    black_box(taken)
}

#[inline(never)]
fn on_channel() -> usize {
    let (_sender, receiver) = mpsc::channel::<usize>();
    black_box(receiver.recv().unwrap_or(0))
}

struct Guard;

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(block());
    }
}

#[inline(never)]
fn on_panic() -> usize {
    let _guard = Guard;
    panic!("as asked");
}

#[inline(never)]
fn inner(way: &str) -> usize {
    black_box(match way {
        "mutex" => on_mutex(),
        "channel" => on_channel(),
        "drop" => on_panic(),
        _ => block(),
    })
}

#[inline(never)]
fn outer(way: &str) -> usize {
    black_box(inner(way))
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    black_box(outer(&way));
}

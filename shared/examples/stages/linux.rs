//! The processes of the example `stages`.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use lapwing::Disruptor;
use lapwing_shared::Segment;

const ORDERS: u64 = 1_000_000;

/// An order.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Order {
    account: u32,
    quantity: u32,
    price: u64,
}

lapwing_shared::event!(Order { account, quantity, price });

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (role, orders) = (std::env::args().nth(1), Segment::<Order>::named("orders"));
    match role.as_deref() {
        Some("write") => write(orders),
        Some("read") => read(orders),
        _ => Err("usage: stages write|read".into()),
    }
}

fn write(orders: Segment<Order>) -> Result<(), Box<dyn Error>> {
    let mut writer = orders.create(1024)?;
    if !writer.wait_for_readers(1, Duration::from_secs(60)) {
        return Err("nobody reads".into());
    }
    let start = Instant::now();
    for number in 0..ORDERS {
        writer.publish(|order| {
            *order = Order { account: number as u32 % 100, quantity: 3, price: 100 + number % 7 };
        });
    }
    writer.close(); // the reader gets the rest
    println!("published {ORDERS} orders in {:.0?}", start.elapsed());
    Ok(())
}

/// Copies each order into a ring of this process, whose stages run on threads of their own.
fn read(orders: Segment<Order>) -> Result<(), Box<dyn Error>> {
    let mut reader = orders.open_timeout(Duration::from_secs(60))?;
    let (mut count, mut exposure) = (0_u64, 0_u64);
    let (mut producer, consumers) = Disruptor::single_producer(1024, Order::zeroed)
        .stage("count")
        .read(|_, _, _| count += 1)
        .stage("exposure")
        .read(|order, _, _| exposure += order.price * u64::from(order.quantity))
        .build()?;
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let running = consumers.start_scoped(scope)?;
        let end = reader.run(|order, _, _| match producer.publish(|slot| *slot = *order) {
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error), // a stage has halted the ring
        });
        match end {
            Ok(error) => return Err(error.into()),
            Err(end) => println!("{end}"),
        }
        running.shutdown()?;
        Ok(())
    })?;
    println!("{count} orders, exposure {exposure}");
    Ok(())
}

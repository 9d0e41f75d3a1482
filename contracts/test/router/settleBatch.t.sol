// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";
import {GreedyWallet, SlowWallet} from "../base/Wallets.sol";

contract SettleBatchTest is RouterTest {
    uint256 private constant GAS_NEEDED = 237_187;

    function test_succeeds_whenAllPurchasesAreGood() public {
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](3);
        batch[0] = purchaseOf(buyer);
        batch[1] = transferPurchaseOf(walletBuyer);
        batch[2] = purchaseOf(buyer);
        settleBatch(settler, batch);
        for (uint256 i = 0; i < batch.length; ++i) assertTrue(isSplit(batch[i]));
        assertBalance(buyer.addr, FUNDS - 2 * PRICE, "buyer");
        assertBalance(walletBuyer.addr, FUNDS - PRICE, "wallet buyer");
        assertBalance(merchant.addr, 3 * MERCHANT_NET, "merchant");
        assertBalance(reviewer.addr, 3 * IMMEDIATE, "reviewer");
        assertBalance(address(escrow), 3 * (HELD_BACK + CASHBACK + FEE), "escrow");
        assertBalance(address(router), 0, "router");
    }

    function test_succeeds_whenTheBatchIsEmpty() public {
        settleBatch(stranger, new SplitRouter.Purchase[](0));
        assertEq(escrow.lastEscrowId(), 0);
    }

    /// [CHAIN-38] [CHAIN-41]
    function test_succeeds_whenSomePurchasesAreBad() public {
        uint256 closedId = registerIdentity(stranger);
        SplitRouter.Attribution memory closed = attribution();
        closed.merchantId = closedId;
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](4);
        batch[0] = signPurchase(buyer, PRICE, RECEIVE, closed);
        batch[1] = purchaseOf(buyer);
        batch[2] = purchaseOf(walletBuyer);
        batch[2].authorization.signature = sign(makeWallet("stranger"), authorizationDigest(batch[2].authorization));
        batch[3] = purchaseOf(walletBuyer);

        expectFailure(batch[0], abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, closedId));
        expectDeposit(buyer.addr, batch[1].authorization.nonce);
        expectFailure(batch[2], revertString("FiatTokenV2: invalid signature"));
        settleBatch(settler, batch);

        assertFalse(usdc.authorizationState(buyer.addr, batch[0].authorization.nonce));
        assertFalse(usdc.authorizationState(walletBuyer.addr, batch[2].authorization.nonce));
        assertTrue(isSplit(batch[1]) && isSplit(batch[3]));
        assertBalance(buyer.addr, FUNDS - PRICE, "buyer");
        assertBalance(walletBuyer.addr, FUNDS - PRICE, "wallet buyer");
        assertBalance(merchant.addr, 2 * MERCHANT_NET, "merchant");
        assertBalance(address(router), 0, "router");
    }

    /// [CHAIN-44]
    function test_succeeds_onceWhenAnAuthorisationIsInABatchTwice() public {
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](2);
        batch[0] = purchaseOf(buyer);
        batch[1] = batch[0];
        expectDeposit(buyer.addr, batch[0].authorization.nonce);
        expectFailure(batch[1], revertString("FiatTokenV2: authorization is used or canceled"));
        settleBatch(settler, batch);
        assertEq(escrow.lastEscrowId(), 1);
        assertSplit(buyer.addr);
    }

    function test_succeeds_forCommittedPurchasesOnlyWhenAnybodyCalls() public {
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](2);
        batch[0] = purchaseOf(walletBuyer);
        batch[1] = signCommitted(buyer, PRICE, attribution());
        bytes32 expected = router.attributionNonce(batch[0].attribution);
        expectFailure(
            batch[0],
            abi.encodeWithSelector(
                ISplitRouterErrors.NonceNotCommitted.selector, batch[0].authorization.nonce, expected
            )
        );
        settleBatch(stranger, batch);
        assertFalse(isSplit(batch[0]));
        assertTrue(isSplit(batch[1]));
        assertSplit(buyer.addr);
    }

    // ---- gas

    function test_succeeds_forTheOthersWhenAWalletBurnsAllGas() public {
        Wallet memory greedy = Wallet(address(new GreedyWallet()), makeWallet("stranger").key);
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](3);
        batch[0] = purchaseOf(buyer);
        batch[1] = purchaseOf(greedy);
        batch[2] = purchaseOf(walletBuyer);
        uint256 gasBefore = gasleft();
        settleBatch(settler, batch);
        assertLt(gasBefore - gasleft(), 3 * GAS_NEEDED);
        assertTrue(isSplit(batch[0]) && isSplit(batch[2]));
        assertFalse(isSplit(batch[1]));
    }

    /// @dev The dearest purchase of an account without code: every storage word is new, and no payout is taken.
    function test_succeeds_whenTheTokenRefusesEveryPayoutOfTheFirstSale() public {
        blockAccount(merchant.addr);
        blockAccount(reviewer.addr);
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](1);
        batch[0] = signCommitted(buyer, PRICE, attribution());
        settleBatch(stranger, batch);
        assertTrue(isSplit(batch[0]));
        assertEq(router.claimable(merchant.addr), MERCHANT_NET);
        assertEq(router.claimable(reviewer.addr), IMMEDIATE);
    }

    /// @dev 64 payers who all burn whatever they get cannot make a batch fail that was sent with the most gas a transaction may have.
    function test_succeeds_belowTheLimitOfATransactionWhenEveryWalletBurnsAllGas() public {
        Wallet memory greedy = Wallet(address(new GreedyWallet()), makeWallet("stranger").key);
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](64);
        for (uint256 i = 0; i < 63; ++i) batch[i] = purchaseOf(greedy);
        batch[63] = purchaseOf(buyer);
        bytes memory data = abi.encodeCall(router.settleBatch, (batch));
        uint256 intrinsic = 21_000;
        for (uint256 i = 0; i < data.length; ++i) intrinsic += data[i] == 0 ? 4 : 16;
        vm.prank(settler);
        (bool ok,) = address(router).call{gas: 2 ** 24 - intrinsic}(data);
        assertTrue(ok, "the batch reverted");
        assertTrue(isSplit(batch[63]), "the good purchase failed");
    }

    function test_reverts_whenGasIsTooLittleForThePurchases() public {
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](1);
        batch[0] = purchaseOf(buyer);
        vm.prank(settler);
        try router.settleBatch{gas: GAS_NEEDED - 1}(batch) {
            assertTrue(false, "settled with too little gas");
        } catch (bytes memory reason) {
            assertEq(bytes4(reason), ISplitRouterErrors.NotEnoughGas.selector);
            (uint256 available, uint256 needed) = decodePair(reason);
            assertEq(needed, GAS_NEEDED);
            assertLt(available, needed);
        }
        assertFalse(isSplit(batch[0]));
    }

    /// @dev Whatever the gas: all good purchases go through, or none does and the caller hears about it. A wallet whose check needs much
    /// gas, last in the batch, is the one that a stingy caller would hurt, since a check that runs out of gas looks like a bad signature.
    function testFuzz_neverFailsAGoodPurchaseForLackOfGas(uint256 gasLimit) public {
        gasLimit = bound(gasLimit, 30_000, 3 * GAS_NEEDED);
        Wallet memory slow = Wallet(address(new SlowWallet(80_000)), buyer.key);
        vm.prank(admin);
        usdc.mint(slow.addr, FUNDS);
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](3);
        batch[0] = purchaseOf(buyer);
        batch[1] = transferPurchaseOf(walletBuyer);
        batch[2] = purchaseOf(slow);
        vm.prank(settler);
        try router.settleBatch{gas: gasLimit}(batch) {
            assertEq(escrow.lastEscrowId(), 3, "a good purchase failed");
        } catch {
            assertEq(escrow.lastEscrowId(), 0, "half a batch");
        }
    }

    // ---- the inner call

    function test_reverts_whenOneIsSettledFromOutside() public {
        SplitRouter.Purchase memory purchase = signCommitted(buyer, PRICE, attribution());
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.OnlySelf.selector, settler));
        vm.prank(settler);
        router.settleOne(purchase, true);
    }

    // ---- helpers

    function settleBatch(address caller, SplitRouter.Purchase[] memory batch) private {
        vm.prank(caller);
        router.settleBatch(batch);
    }

    function expectFailure(SplitRouter.Purchase memory purchase, bytes memory reason) private {
        vm.expectEmit(address(router));
        emit SplitRouter.PurchaseFailed(purchase.authorization.from, purchase.authorization.nonce, reason);
    }

    /// @dev The two words after an error's selector.
    function decodePair(bytes memory reason) private pure returns (uint256 first, uint256 second) {
        assembly {
            first := mload(add(reason, 0x24))
            second := mload(add(reason, 0x44))
        }
    }
}
